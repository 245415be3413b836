/** The second factor in the fields of a user's item (functions/README.md, Second factor). */
import { config } from '../../ground/settings.ts';
import type { StoredUser } from '../../users/item.ts';

/** The fields of a user who has no second factor. */
export const withoutFactor = {
  factor_secret: undefined,
  factor_step: undefined,
  recovery_codes: undefined,
  enrolment: undefined,
} as const;

/** The details of the audit entry of a removal. */
export const factorRemoved = { fields: ['second_factor'], second_factor: 'removed' } as const;

/** Whether a user logs in with a code. Never while SECOND_FACTOR is off. */
export function hasFactor({ factor_secret }: StoredUser): boolean {
  return config.secondFactor !== 'off' && factor_secret !== undefined;
}

/** The part of a second factor that responses show. */
export function factorStanding({ factor_secret, recovery_codes }: StoredUser) {
  return {
    enabled: factor_secret !== undefined,
    recovery_codes_left: recovery_codes?.size ?? 0,
  };
}

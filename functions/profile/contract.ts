import * as v from 'valibot';
import type { Contract, Descriptions } from '../../lib/contract/contract.ts';
import { named } from '../../lib/contract/schemas.ts';
import { exampleProfile, profileFields } from '../users/contract.ts';

export const get = {
  route: 'GET /api/profile',
  may: 'own',
  storageFault: ['Error fetching profile', 'err'],
} as const satisfies Contract;

export const tag = 'Accounts';

export const descriptions: Descriptions = {
  get: (settings) => ({
    id: 'getProfile',
    summary: 'Show the caller’s profile',
    success: {
      status: 200,
      description: 'The user of the token.',
      schema: named(
        'Profile',
        v.object({ data: named('ProfileData', v.object(profileFields(settings))) }),
      ),
      example: { data: exampleProfile(settings) },
    },
    errors: ['USER_NOT_FOUND'],
  }),
};

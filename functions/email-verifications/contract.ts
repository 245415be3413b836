import * as v from 'valibot';
import type { Contract, Descriptions } from '../../lib/contract/contract.ts';
import { confirmationErrors, message, named } from '../../lib/contract/schemas.ts';
import { hasIdentities, hasSessions, type ServiceValues } from '../../lib/ground/settings.ts';
import { atLeast, atMost, text } from '../../lib/ground/validation.ts';
import { idTokenIfAny, linkToken } from '../../lib/users/fields.ts';

export const request = {
  route: 'POST /api/email-verifications',
  exists,
  may: 'own',
  storageFault: ['Error requesting mail', 'err'],
} as const satisfies Contract;

export const confirm = {
  route: 'PUT /api/email-verifications',
  exists,
  may: 'public',
  body: (settings) =>
    named(
      'EmailVerification',
      v.object({
        token: linkToken(),
        password: hasIdentities(settings) ? v.exactOptional(ownPassword()) : ownPassword(),
        ...idTokenIfAny(settings),
      }),
    ),
  whenMissing: 'TOKEN_AND_PASSWORD_REQUIRED',
  storageFault: ['Error verifying email', 'err'],
} as const satisfies Contract;

/** The message is the same whether or not the address was verified before. */
export const requested = 'Unless the address is verified, a mail is on its way';

export const tag = 'Accounts';

export const descriptions: Descriptions = {
  request: () => ({
    id: 'requestEmailVerification',
    summary: 'Ask for the link that verifies one’s address again',
    text: [
      'Mails a link to the address of the caller, unless it is verified; beyond the limits of mails the response is 429.',
      'No mail is sent while a link to a new address of the caller is valid.',
    ],
    success: {
      status: 202,
      description: 'Unless the address is verified, a mail will be sent to it.',
      schema: message(),
      example: { message: requested },
    },
    errors: ['USER_NOT_FOUND', 'MAILS_LIMITED', 'MAIL_FAULT'],
  }),

  confirm: (settings) => ({
    id: 'verifyEmail',
    summary: 'Verify an address by a mailed link',
    text: [
      'Needs the password of the account too.',
      'A wrong password counts as a failed login, and the token can still be used.',
      'A token is valid for 30 minutes, unless a newer token is mailed or another address is asked for before.',
      'A repeated request has the same response, and changes nothing.',
      'If the link was mailed to a new address, the user has it from then on.',
      hasSessions(settings) &&
        'A new address ends all sessions of the user but the one that asked for it.',
    ],
    bodyExample: {
      token: '17.Yk5HbUdmbWJ0ZkVvZ0xkWnN2Q3hRd2pKcE1hVXJ5VGs',
      password: 'a long password of her own',
    },
    success: { status: 204, description: 'The address is verified.' },
    errors: [
      'VERIFICATION_TOKEN_INVALID',
      'CURRENT_PASSWORD_WRONG',
      'TOO_MANY_ATTEMPTS',
      'EMAIL_REGISTERED',
      confirmationErrors(settings),
    ],
  }),
};

function exists(settings: ServiceValues): boolean {
  return settings.emailVerification !== 'off';
}

/** The user's existing password. It may break the current rules for passwords. */
function ownPassword() {
  return v.pipe(
    text,
    atMost(255),
    atLeast(() => 1),
    v.description('The password of the account.'),
    v.metadata({ format: 'password' }),
  );
}

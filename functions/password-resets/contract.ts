import * as v from 'valibot';
import type { Contract, Descriptions } from '../../lib/contract/contract.ts';
import { message, named } from '../../lib/contract/schemas.ts';
import { hasSessions, sendsMail } from '../../lib/ground/settings.ts';
import { linkToken, password, wantedEmail } from '../../lib/users/fields.ts';

export const request = {
  route: 'POST /api/password-resets',
  exists: sendsMail,
  may: 'public',
  takesToken: true,
  body: () => named('PasswordResetRequest', v.object({ email: wantedEmail })),
  whenMissing: 'EMAIL_REQUIRED',
  storageFault: ['Error requesting mail', 'err'],
} as const satisfies Contract;

export const set = {
  route: 'PUT /api/password-resets',
  exists: sendsMail,
  may: 'public',
  body: () => named('PasswordReset', v.object({ token: linkToken(), password })),
  whenMissing: 'TOKEN_AND_PASSWORD_REQUIRED',
  storageFault: ['Error resetting password', 'err'],
} as const satisfies Contract;

/** The message is the same for everyone: it does not say whether somebody has the address. */
export const requested = 'If the address is registered, a mail is on its way';

export const tag = 'Accounts';

export const descriptions: Descriptions = {
  request: () => ({
    id: 'requestPasswordReset',
    summary: 'Ask for a new password',
    text: 'Mails a link to the address, if an account has it: at most one a minute and five an hour for an address, and for at most 20 requests for mails in 15 minutes from one source address. The response is the same in every case. A valid token, which is not needed, tells the audit trail who asks. Only admins, whose mails are counted apart, are told of a limit, by a 429.',
    bodyExample: { email: 'ada@example.org' },
    success: {
      status: 202,
      description: 'If the address is registered, a mail will be sent to it.',
      schema: message(),
      example: { message: requested },
    },
    errors: ['MAILS_LIMITED', 'MAIL_FAULT'],
  }),

  set: (settings) => ({
    id: 'resetPassword',
    summary: 'Set a new password by a mailed link',
    text: [
      'A token is valid once, for 30 minutes, until a newer one is mailed.',
      'A refused password does not use it up.',
      hasSessions(settings) && 'All sessions of the user are ended.',
    ],
    bodyExample: {
      token: '17.Yk5HbUdmbWJ0ZkVvZ0xkWnN2Q3hRd2pKcE1hVXJ5VGs',
      password: 'another long password',
    },
    success: { status: 204, description: 'The password is set.' },
    errors: ['RESET_TOKEN_INVALID', 'HASHING_FAULT'],
  }),
};

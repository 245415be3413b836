/** Password resets, for users who forgot their password, where the service sends mails. */
import { hasSessions, sendsMail } from '../settings.ts';
import { resetRequest } from '../users/fields.ts';
import { passwordReset } from '../users/schema.ts';
import { message } from './named-schemas.ts';
import type { Describe, Operation, Operations } from './operation.ts';

const tag = 'Accounts';

/** The same for everyone: it does not say whether somebody has the address. */
export const requested = 'If the address is registered, a mail is on its way';

export const requestReset = {
  caller: 'anyone',
  body: resetRequest,
  storageFault: ['Error requesting mail', 'err'],
} as const satisfies Operation;

const requestResetDescription: Describe = (settings) => ({
  exists: sendsMail(settings),
  id: 'requestPasswordReset',
  tag,
  summary: 'Ask for a new password',
  text: 'Mails a link to the address, if an account has it: at most one a minute and five an hour for an address, and for at most 20 requests for mails in 15 minutes from one source address. The response is the same in every case. A valid token, which is not needed, tells the audit trail who asks.',
  takesToken: true,
  bodyExample: { email: 'ada@example.org' },
  success: {
    status: 202,
    description: 'If the address is registered, a mail will be sent to it.',
    schema: message,
    example: { message: requested },
  },
  errors: ['EMAIL_REQUIRED', 'FIELD_INVALID', 'MAIL_FAULT'],
});

export const resetPassword = {
  caller: 'anyone',
  body: passwordReset,
  storageFault: ['Error resetting password', 'err'],
} as const satisfies Operation;

const resetPasswordDescription: Describe = (settings) => ({
  exists: sendsMail(settings),
  id: 'resetPassword',
  tag,
  summary: 'Set a new password by a mailed link',
  text:
    'A token is valid once, for 30 minutes, until a newer one is mailed. A refused password does not use it up.' +
    (hasSessions(settings) ? ' All sessions of the user are ended.' : ''),
  bodyExample: {
    token: '17.Yk5HbUdmbWJ0ZkVvZ0xkWnN2Q3hRd2pKcE1hVXJ5VGs',
    password: 'another long password',
  },
  success: { status: 204, description: 'The password is set.' },
  errors: ['TOKEN_AND_PASSWORD_REQUIRED', 'FIELD_INVALID', 'RESET_TOKEN_INVALID', 'HASHING_FAULT'],
});

export const operations = {
  'POST /api/password-resets': [requestReset, requestResetDescription],
  'PUT /api/password-resets': [resetPassword, resetPasswordDescription],
} as const satisfies Operations;

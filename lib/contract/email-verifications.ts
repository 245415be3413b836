/** The verification of addresses by mailed links, where EMAIL_VERIFICATION is not off. */
import { hasSessions, type ServiceValues } from '../settings.ts';
import { emailVerification } from '../users/fields.ts';
import { message } from './named-schemas.ts';
import type { Describe, Operation, Operations } from './operation.ts';

const tag = 'Accounts';
const exists = (settings: ServiceValues) => settings.emailVerification !== 'off';

/** The same whether the address was verified before or not. */
export const requested = 'Unless the address is verified, a mail is on its way';

export const requestVerification = {
  caller: 'user',
  storageFault: ['Error requesting mail', 'err'],
} as const satisfies Operation;

const requestVerificationDescription: Describe = (settings) => ({
  exists: exists(settings),
  id: 'requestEmailVerification',
  tag,
  summary: 'Ask for the link that verifies one’s address again',
  text: 'Mails a link to the address of the caller, unless it is verified, within the limits of password resets. None is mailed while a link to a new address of the caller is valid.',
  success: {
    status: 202,
    description: 'Unless the address is verified, a mail will be sent to it.',
    schema: message,
    example: { message: requested },
  },
  errors: ['USER_NOT_FOUND', 'MAIL_FAULT'],
});

export const verifyEmail = {
  caller: 'anyone',
  body: emailVerification,
  storageFault: ['Error verifying email', 'err'],
} as const satisfies Operation;

const verifyEmailDescription: Describe = (settings) => ({
  exists: exists(settings),
  id: 'verifyEmail',
  tag,
  summary: 'Verify an address by a mailed link',
  text:
    'Needs the password of the account too: a wrong one counts as a failed login, and does not use the token up. A token is valid for 30 minutes, until a newer one is mailed or another address asked for; a request that is repeated has the same response, and changes nothing. If the link was mailed to a new address, the user has it from then on.' +
    (hasSessions(settings)
      ? ' A new address ends all sessions of the user but the one that asked for it.'
      : ''),
  bodyExample: {
    token: '17.Yk5HbUdmbWJ0ZkVvZ0xkWnN2Q3hRd2pKcE1hVXJ5VGs',
    password: 'a long password of her own',
  },
  success: { status: 204, description: 'The address is verified.' },
  errors: [
    'TOKEN_AND_PASSWORD_REQUIRED',
    'FIELD_INVALID',
    'VERIFICATION_TOKEN_INVALID',
    'CURRENT_PASSWORD_WRONG',
    'TOO_MANY_ATTEMPTS',
    'EMAIL_REGISTERED',
    'HASHING_FAULT',
  ],
});

export const operations = {
  'POST /api/email-verifications': [requestVerification, requestVerificationDescription],
  'PUT /api/email-verifications': [verifyEmail, verifyEmailDescription],
} as const satisfies Operations;

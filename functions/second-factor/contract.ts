import * as v from 'valibot';
import type { Contract, Descriptions } from '../../lib/contract/contract.ts';
import {
  confirmationErrors,
  exampleSecondFactor,
  factorSessionError,
  named,
  secondFactor,
} from '../../lib/contract/schemas.ts';
import { hasSecondFactors, type ServiceValues } from '../../lib/ground/settings.ts';
import { described } from '../../lib/ground/validation.ts';
import { code, confirmation } from '../../lib/users/fields.ts';

const own = { exists: hasSecondFactors, may: 'own' } as const;

export const get = {
  route: 'GET /api/second-factor',
  ...own,
  storageFault: ['Error fetching second factor', 'err'],
} as const satisfies Contract;

export const enrol = {
  route: 'POST /api/second-factor',
  ...own,
  body: (settings) => named('PasswordConfirmation', v.object(confirmation(settings))),
  whenInvalid: 'CURRENT_PASSWORD_REQUIRED',
  storageFault: ['Error enabling second factor', 'err'],
} as const satisfies Contract;

export const confirm = {
  route: 'PUT /api/second-factor',
  ...own,
  body: () => named('CodeConfirmation', v.object({ code: code() })),
  whenInvalid: 'CODE_REQUIRED',
  storageFault: ['Error enabling second factor', 'err'],
} as const satisfies Contract;

const passwordAndCode = {
  ...own,
  body: (settings: ServiceValues) =>
    named('PasswordAndCode', v.object({ code: code(), ...confirmation(settings) })),
  whenInvalid: { code: 'CODE_REQUIRED', currentPassword: 'CURRENT_PASSWORD_REQUIRED' },
} as const;

export const renewRecoveryCodes = {
  route: 'POST /api/second-factor/recovery-codes',
  ...passwordAndCode,
  storageFault: ['Error making recovery codes', 'err'],
} as const satisfies Contract;

export const remove = {
  route: 'POST /api/second-factor/removals',
  ...passwordAndCode,
  storageFault: ['Error removing second factor', 'err'],
} as const satisfies Contract;

export const tag = 'Accounts';

export const descriptions: Descriptions = {
  get: () => ({
    id: 'getSecondFactor',
    summary: 'Show whether the caller has a second factor',
    success: {
      status: 200,
      description: 'Whether there is one.',
      schema: secondFactor(),
      example: exampleSecondFactor,
    },
  }),

  enrol: (settings) => ({
    id: 'enrolSecondFactor',
    summary: 'Begin to enrol a second factor',
    text: 'Makes a secret for an authenticator app. Logins do not ask for a code before one has confirmed it. The secret becomes void after ten minutes, or when a new one is made.',
    bodyExample: { currentPassword: exampleConfirmation.currentPassword },
    success: {
      status: 201,
      description: 'The secret, and the URI that the app reads as a QR code.',
      schema: named(
        'SecondFactorEnrolment',
        v.object({
          secret: described(v.string(), 'Base32 (RFC 4648), to be typed into an app.'),
          uri: described(v.string(), 'The same as an app reads it from a QR code.'),
        }),
      ),
      example: {
        secret: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
        uri: 'otpauth://totp/api.example.com:ada%40example.org?issuer=api.example.com&secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&algorithm=SHA1&digits=6&period=30',
      },
    },
    errors: [
      passwordErrors,
      confirmationErrors(settings),
      'SECOND_FACTOR_ENABLED',
      factorSessionError(settings),
      unverifiedUnder(settings),
    ],
  }),

  confirm: (settings) => ({
    id: 'confirmSecondFactor',
    summary: 'Confirm the second factor by a first code',
    text: 'From then on a login requires a code. All other sessions of the caller are ended. The recovery codes are shown this once.',
    bodyExample: { code: exampleConfirmation.code },
    success: { status: 200, description: 'The second factor is enabled.', ...recoveryCodes() },
    errors: [
      codeErrors,
      'TOO_MANY_ATTEMPTS',
      'USER_NOT_FOUND',
      'SECOND_FACTOR_ENABLED',
      factorSessionError(settings),
      unverifiedUnder(settings),
    ],
  }),

  renewRecoveryCodes: (settings) => ({
    id: 'makeRecoveryCodes',
    summary: 'Make new recovery codes',
    text: 'The earlier ones become void. All other sessions of the caller are ended.',
    bodyExample: exampleConfirmation,
    success: {
      status: 200,
      description: 'The codes, each good once, which are shown this once.',
      ...recoveryCodes(),
    },
    errors: [passwordErrors, confirmationErrors(settings), codeErrors],
  }),

  remove: (settings) => ({
    id: 'removeOwnSecondFactor',
    summary: 'Remove one’s own second factor',
    text: 'All other sessions of the caller are ended.',
    bodyExample: exampleConfirmation,
    success: { status: 204, description: 'The second factor is removed.' },
    errors: [passwordErrors, confirmationErrors(settings), codeErrors],
  }),
};

/** If the service verifies addresses, only a user whose address is verified can have a second factor. */
function unverifiedUnder({ emailVerification }: ServiceValues) {
  return emailVerification !== 'off' && 'EMAIL_NOT_VERIFIED';
}

function recoveryCodes() {
  return {
    schema: named('RecoveryCodes', v.object({ recoveryCodes: v.array(v.string()) })),
    example: { recoveryCodes: ['7Q2M-9FHT-X0ZB-4KCW', 'D8RV-31JG-PS6N-EY5A'] },
  };
}

const exampleConfirmation = { currentPassword: 'a long password of her own', code: '123456' };

const passwordErrors = ['CURRENT_PASSWORD_WRONG', 'TOO_MANY_ATTEMPTS', 'USER_NOT_FOUND'] as const;
const codeErrors = ['CODE_WRONG', 'SECOND_FACTOR_NOT_FOUND'] as const;

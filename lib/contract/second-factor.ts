/** The second factor of users: one-time codes of an app, and recovery codes. */
import { codeConfirmation, fullConfirmation, passwordConfirmation } from '../auth/credentials.ts';
import type { ServiceValues } from '../settings.ts';
import { recoveryCodes, secondFactor, secondFactorEnrolment } from './named-schemas.ts';
import type { Describe, Operation, Operations } from './operation.ts';

const tag = 'Accounts';
const exists = ({ secondFactor: setting }: ServiceValues) => setting !== 'off';

const password = 'a long password of her own';
const code = '123456';
const exampleCodes = { recoveryCodes: ['7Q2M-9FHT-X0ZB-4KCW', 'D8RV-31JG-PS6N-EY5A'] };

const passwordErrors = [
  'CURRENT_PASSWORD_REQUIRED',
  'CURRENT_PASSWORD_WRONG',
  'TOO_MANY_ATTEMPTS',
  'HASHING_FAULT',
  'USER_NOT_FOUND',
] as const;
const codeErrors = ['CODE_REQUIRED', 'CODE_WRONG', 'SECOND_FACTOR_NOT_FOUND'] as const;

/** Where addresses are verified, that of a user with a factor is. */
const unverifiedUnder = ({ emailVerification }: ServiceValues) =>
  emailVerification === 'off' ? [] : (['EMAIL_NOT_VERIFIED'] as const);

export const getSecondFactor = {
  caller: 'user',
  storageFault: ['Error fetching second factor', 'err'],
} as const satisfies Operation;

const getSecondFactorDescription: Describe = (settings) => ({
  exists: exists(settings),
  id: 'getSecondFactor',
  tag,
  summary: 'Show whether the caller has a second factor',
  success: {
    status: 200,
    description: 'Whether there is one.',
    schema: secondFactor,
    example: { enabled: true, recovery_codes_left: 10 },
  },
  errors: [],
});

export const enrol = {
  caller: 'user',
  body: passwordConfirmation,
  storageFault: ['Error enabling second factor', 'err'],
} as const satisfies Operation;

const enrolDescription: Describe = (settings) => ({
  exists: exists(settings),
  id: 'enrolSecondFactor',
  tag,
  summary: 'Begin to enrol a second factor',
  text: 'Makes a secret for an authenticator app. Logins do not ask for a code before one has confirmed it. The secret becomes void after ten minutes, or when a new one is made.',
  bodyExample: { currentPassword: password },
  success: {
    status: 201,
    description: 'The secret, and the URI that the app reads as a QR code.',
    schema: secondFactorEnrolment,
    example: {
      secret: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
      uri: 'otpauth://totp/api.example.com:ada%40example.org?issuer=api.example.com&secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&algorithm=SHA1&digits=6&period=30',
    },
  },
  errors: [...passwordErrors, 'SECOND_FACTOR_ENABLED', ...unverifiedUnder(settings)],
});

export const confirm = {
  caller: 'user',
  body: codeConfirmation,
  storageFault: ['Error enabling second factor', 'err'],
} as const satisfies Operation;

const confirmDescription: Describe = (settings) => ({
  exists: exists(settings),
  id: 'confirmSecondFactor',
  tag,
  summary: 'Confirm the second factor by a first code',
  text: 'From then on a login requires a code. All other sessions of the caller are ended. The recovery codes are shown this once.',
  bodyExample: { code },
  success: {
    status: 200,
    description: 'The second factor is enabled.',
    schema: recoveryCodes,
    example: exampleCodes,
  },
  errors: [
    ...codeErrors,
    'TOO_MANY_ATTEMPTS',
    'USER_NOT_FOUND',
    'SECOND_FACTOR_ENABLED',
    ...unverifiedUnder(settings),
  ],
});

export const renewRecoveryCodes = {
  caller: 'user',
  body: fullConfirmation,
  storageFault: ['Error making recovery codes', 'err'],
} as const satisfies Operation;

const renewRecoveryCodesDescription: Describe = (settings) => ({
  exists: exists(settings),
  id: 'makeRecoveryCodes',
  tag,
  summary: 'Make new recovery codes',
  text: 'The earlier ones become void. All other sessions of the caller are ended.',
  bodyExample: { currentPassword: password, code },
  success: {
    status: 200,
    description: 'The codes, each good once, which are shown this once.',
    schema: recoveryCodes,
    example: exampleCodes,
  },
  errors: [...passwordErrors, ...codeErrors],
});

export const removeOwnFactor = {
  caller: 'user',
  body: fullConfirmation,
  storageFault: ['Error removing second factor', 'err'],
} as const satisfies Operation;

const removeOwnFactorDescription: Describe = (settings) => ({
  exists: exists(settings),
  id: 'removeOwnSecondFactor',
  tag,
  summary: 'Remove one’s own second factor',
  text: 'All other sessions of the caller are ended.',
  bodyExample: { currentPassword: password, code },
  success: { status: 204, description: 'The second factor is removed.' },
  errors: [...passwordErrors, ...codeErrors],
});

export const getUserFactor = {
  caller: 'admin',
  storageFault: ['Error fetching second factor', 'err'],
} as const satisfies Operation;

const getUserFactorDescription: Describe = (settings) => ({
  exists: exists(settings),
  id: 'getUserSecondFactor',
  tag: 'Users',
  summary: 'Show whether a user has a second factor',
  success: {
    status: 200,
    description: 'Whether there is one.',
    schema: secondFactor,
    example: { enabled: true, recovery_codes_left: 10 },
  },
  errors: ['USER_NOT_FOUND'],
});

export const removeFactor = {
  caller: 'admin',
  storageFault: ['Error removing second factor', 'err'],
} as const satisfies Operation;

const removeFactorDescription: Describe = (settings) => ({
  exists: exists(settings),
  id: 'removeSecondFactor',
  tag: 'Users',
  summary: 'Remove the second factor of a user',
  text: 'For a user who has lost the app and the recovery codes. The admin must have a second factor, and cannot remove it so. All sessions of the user are ended.',
  success: { status: 204, description: 'The second factor is removed.' },
  errors: ['USER_NOT_FOUND', 'SECOND_FACTOR_NOT_FOUND', 'SECOND_FACTOR_REQUIRED'],
});

export const operations = {
  'GET /api/second-factor': [getSecondFactor, getSecondFactorDescription],
  'POST /api/second-factor': [enrol, enrolDescription],
  'PUT /api/second-factor': [confirm, confirmDescription],
  'POST /api/second-factor/recovery-codes': [renewRecoveryCodes, renewRecoveryCodesDescription],
  'POST /api/second-factor/removals': [removeOwnFactor, removeOwnFactorDescription],
  'GET /api/users/{id}/second-factor': [getUserFactor, getUserFactorDescription],
  'DELETE /api/users/{id}/second-factor': [removeFactor, removeFactorDescription],
} as const satisfies Operations;

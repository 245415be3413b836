/** Registration, login and the caller's profile. */
import { credentials } from '../auth/credentials.ts';
import { hasSessions, hidesAccounts, type ServiceValues } from '../settings.ts';
import { newUser } from '../users/schema.ts';
import { credentialsUnder, message, profileUnder, sessionUnder } from './named-schemas.ts';
import type { Describe, Operation, Operations } from './operation.ts';

const exampleUser = {
  name: 'Ada Lovelace',
  email: 'ada@example.org',
  password: 'a long password of her own',
};
/** The tokens of a response, in examples. */
export const exampleTokens = (settings: ServiceValues) => ({
  token: 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJpZCI6MTd9.c2lnbmF0dXJl',
  ...(hasSessions(settings)
    ? { refreshToken: `17.R0h2kQ9mT4yWcXbZ1nLp7A.${'S3cr3t'.repeat(7)}s${'T4g'.repeat(7)}t` }
    : {}),
});

export const register = {
  caller: 'anyone',
  body: newUser,
  storageFault: ['Error registering user', 'insertErr'],
} as const satisfies Operation;

const registerDescription: Describe = (settings) => ({
  id: 'register',
  tag: 'Accounts',
  summary: 'Register',
  text:
    'Creates a user with the role `user`; a role in the body is ignored. ' +
    (settings.emailVerification === 'required'
      ? 'The response has no token: the user logs in when the address is verified by the mailed link.'
      : 'The response has a token for the new user.') +
    (hidesAccounts(settings)
      ? ' It is the same when somebody has the address, who then gets a mail.'
      : '') +
    (settings.registrationsPerAddress > 0
      ? ' The number of registrations from one source address is limited; beyond the limit they must wait.'
      : ''),
  bodyExample: exampleUser,
  success: {
    status: 201,
    description: 'The user is registered.',
    ...(settings.emailVerification === 'required'
      ? { schema: message, example: { message: 'User registered successfully' } }
      : {
          schema: sessionUnder(settings),
          example: { message: 'User registered successfully', ...exampleTokens(settings) },
        }),
  },
  errors: [
    'FIELDS_REQUIRED',
    'FIELD_INVALID',
    'HASHING_FAULT',
    ...(hidesAccounts(settings) ? [] : (['EMAIL_REGISTERED'] as const)),
    ...(settings.emailVerification === 'required' ? [] : (['TOKEN_FAULT'] as const)),
    ...(settings.registrationsPerAddress > 0 ? (['TOO_MANY_ATTEMPTS'] as const) : []),
  ],
});

export const logIn = {
  caller: 'anyone',
  body: credentials,
  storageFault: ['Error checking user', 'err'],
} as const satisfies Operation;

const logInDescription: Describe = (settings) => ({
  id: 'logIn',
  tag: 'Accounts',
  summary: 'Log in',
  text:
    'The response has a new token. Failed logins are counted by account and by source address; beyond a limit logins must wait, even with the right password.' +
    (settings.accounts === 'private'
      ? ' The response to an unknown address is the same as to a wrong password.'
      : '') +
    (hidesAccounts(settings) ? ' So is that to an address that is not verified.' : '') +
    (settings.secondFactor === 'off'
      ? ''
      : ' A user with a second factor needs `code` too: without it, the response to a right password is 401 `Code required`.'),
  body: credentialsUnder(settings),
  bodyExample: { email: exampleUser.email, password: exampleUser.password },
  success: {
    status: 200,
    description: 'The credentials are right.',
    schema: sessionUnder(settings),
    example: { message: 'Login successful', ...exampleTokens(settings) },
  },
  errors: [
    'CREDENTIALS_REQUIRED',
    'INVALID_CREDENTIALS',
    ...(settings.secondFactor === 'off'
      ? []
      : (['LOGIN_CODE_REQUIRED', 'LOGIN_CODE_WRONG'] as const)),
    ...(settings.accounts === 'private' ? [] : (['USER_NOT_REGISTERED'] as const)),
    ...(settings.emailVerification === 'required' && !hidesAccounts(settings)
      ? (['EMAIL_NOT_VERIFIED'] as const)
      : []),
    'TOO_MANY_ATTEMPTS',
    'HASHING_FAULT',
    'TOKEN_FAULT',
  ],
});

export const getProfile = {
  caller: 'user',
  storageFault: ['Error fetching profile', 'err'],
} as const satisfies Operation;

const getProfileDescription: Describe = (settings) => ({
  id: 'getProfile',
  tag: 'Accounts',
  summary: 'Show the caller’s profile',
  success: {
    status: 200,
    description: 'The user of the token.',
    schema: profileUnder(settings),
    example: {
      data: {
        id: 17,
        name: exampleUser.name,
        email: exampleUser.email,
        role: 'user',
        ...(settings.emailVerification === 'off' ? {} : { email_verified: true }),
      },
    },
  },
  errors: ['USER_NOT_FOUND'],
});

export const operations = {
  'POST /api/auth/register': [register, registerDescription],
  'POST /api/login': [logIn, logInDescription],
  'GET /api/profile': [getProfile, getProfileDescription],
} as const satisfies Operations;

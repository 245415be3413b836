import * as v from 'valibot';
import type { Contract, Descriptions } from '../../lib/contract/contract.ts';
import { message, named, refusesUnmailable, tokenLifetime } from '../../lib/contract/schemas.ts';
import {
  hasAttributes,
  hasSecondFactors,
  hasSessions,
  hidesAccounts,
  type ServiceValues,
} from '../../lib/ground/settings.ts';
import { described, type Fields } from '../../lib/ground/validation.ts';
import { attributesField } from '../../lib/options/attributes/field.ts';
import {
  codeIfAny,
  credentials,
  filledText,
  name,
  newEmail,
  password,
} from '../../lib/users/fields.ts';
import type { Role } from '../../lib/users/user.ts';

export const register = {
  route: 'POST /api/auth/register',
  may: 'register',
  body: (settings, of: Role, given?: Fields) =>
    named(
      'NewUser',
      v.object({
        name,
        email: newEmail,
        password,
        ...attributesField(settings, of, given?.attributes),
      }),
    ),
  whenMissing: 'FIELDS_REQUIRED',
  storageFault: ['Error registering user', 'insertErr'],
} as const satisfies Contract;

export const login = {
  route: 'POST /api/login',
  may: 'public',
  body: (settings) => named('Credentials', v.object({ ...credentials(), ...codeIfAny(settings) })),
  whenInvalid: 'CREDENTIALS_REQUIRED',
  storageFault: ['Error checking user', 'err'],
} as const satisfies Contract;

export const refresh = {
  route: 'POST /api/refresh',
  exists: hasSessions,
  may: 'public',
  body: () => named('RefreshRequest', v.object({ refreshToken: filledText() })),
  whenInvalid: 'REFRESH_TOKEN_REQUIRED',
  storageFault: ['Error refreshing token', 'err'],
} as const satisfies Contract;

export const logout = {
  route: 'POST /api/logout',
  exists: hasSessions,
  may: 'own',
  evenIfDeleted: true,
  // A parameter that asks to end more than this session must not be ignored.
  query: () => ({}),
  refusesOtherParameters: true,
  storageFault: ['Error logging out', 'err'],
} as const satisfies Contract;

export const tag = 'Accounts';

export const descriptions: Descriptions = {
  register: (settings) => ({
    id: 'register',
    summary: 'Register',
    text: [
      'Creates a user with the role `user`; a role in the body is ignored.',
      settings.emailVerification === 'required'
        ? 'The response has no token: the user logs in when the address is verified by the mailed link.'
        : 'The response has a token for the new user.',
      refusesUnmailable(settings),
      hidesAccounts(settings) &&
        'It is the same when somebody has the address, who then gets a mail.',
      settings.registrationsPerAddress > 0 &&
        'The number of registrations from one source address is limited; beyond the limit they must wait.',
      hasAttributes(settings) && 'Attributes that only admins write are refused.',
    ],
    bodyExample: { name: 'Ada Lovelace', ...exampleCredentials },
    success: {
      status: 201,
      description: 'The user is registered.',
      schema: settings.emailVerification === 'required' ? message() : tokensUnder(settings),
      example: {
        message: 'User registered successfully',
        ...(settings.emailVerification !== 'required' && exampleTokens(settings)),
      },
    },
    errors: [
      'HASHING_FAULT',
      !hidesAccounts(settings) && 'EMAIL_REGISTERED',
      settings.emailVerification !== 'required' && 'TOKEN_FAULT',
      settings.registrationsPerAddress > 0 && 'TOO_MANY_ATTEMPTS',
      hasAttributes(settings) && 'FORBIDDEN',
    ],
  }),

  login: (settings) => ({
    id: 'logIn',
    summary: 'Log in',
    text: [
      'The response has a new token.',
      'Failed logins are counted by account and by source address; beyond a limit logins must wait, even with the right password.',
      settings.accounts === 'private' &&
        'The response to an unknown address is the same as to a wrong password.',
      hidesAccounts(settings) && 'So is that to an address that is not verified.',
      hasSecondFactors(settings) &&
        'A user with a second factor needs `code` too: without it, the response to a right password is 401 `Code required`.',
    ],
    bodyExample: exampleCredentials,
    success: {
      status: 200,
      description: 'The credentials are right.',
      schema: tokensUnder(settings),
      example: { message: 'Login successful', ...exampleTokens(settings) },
    },
    errors: [
      'INVALID_CREDENTIALS',
      hasSecondFactors(settings) && ['LOGIN_CODE_REQUIRED', 'LOGIN_CODE_WRONG'],
      settings.accounts === 'open' && 'USER_NOT_REGISTERED',
      settings.emailVerification === 'required' && !hidesAccounts(settings) && 'EMAIL_NOT_VERIFIED',
      'ACCOUNT_SUSPENDED',
      'TOO_MANY_ATTEMPTS',
      'TOKEN_FAULT',
    ],
  }),

  refresh: (settings) => ({
    id: 'refresh',
    summary: 'Refresh the token',
    text: 'Exchanges a refresh token, once, for a token and the next refresh token. If the response is lost, send the same again: for a minute it gets the same next one, later new tokens unless a lost one was used. Any other reuse ends the session.',
    bodyExample: { refreshToken: exampleTokens(settings).refreshToken },
    success: {
      status: 200,
      description: 'The session goes on.',
      schema: tokensUnder(settings),
      example: { message: 'Token refreshed', ...exampleTokens(settings) },
    },
    errors: ['REFRESH_TOKEN_INVALID', 'TOKEN_FAULT'],
  }),

  logout: () => ({
    id: 'logOut',
    summary: 'Log out',
    text: 'The token is refused from then on. A token of a user who was deleted is logged out too.',
    success: { status: 204, description: 'The session is ended.' },
  }),
};

/** The tokens in responses under given settings, with a refresh token if there are sessions. */
export function tokensUnder(settings: ServiceValues) {
  const tokens = {
    message: v.string(),
    token: described(
      v.string(),
      `A bearer token (JWT, RFC 7519), valid for ${tokenLifetime(settings)}.`,
    ),
  };
  const refreshToken = described(
    v.string(),
    'Exchanged once for new tokens by POST /api/refresh. Keep it secret.',
  );
  return named('Session', v.object(hasSessions(settings) ? { ...tokens, refreshToken } : tokens));
}

export function exampleTokens(settings: ServiceValues) {
  return {
    token: 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJpZCI6MTd9.c2lnbmF0dXJl',
    ...(hasSessions(settings) && {
      refreshToken: `17.R0h2kQ9mT4yWcXbZ1nLp7A.${'S3cr3t'.repeat(7)}s${'T4g'.repeat(7)}t`,
    }),
  };
}

const exampleCredentials = { email: 'ada@example.org', password: 'a long password of her own' };

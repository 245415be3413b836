import * as v from 'valibot';
import type { Contract, Descriptions } from '../../lib/contract/contract.ts';
import {
  confirmationWithCode,
  confirmationWithCodeErrors,
  exampleIdentity,
  identity,
  named,
  needsConfirmation,
  refusesUnmailable,
} from '../../lib/contract/schemas.ts';
import { hasIdentities, hasSecondFactors } from '../../lib/ground/settings.ts';
import { described } from '../../lib/ground/validation.ts';
import { codeIfAny, filledText, name, passwordIfAny, textIfAny } from '../../lib/users/fields.ts';
import { exampleTokens, tokensUnder } from '../auth/contract.ts';

export const makeNonce = {
  route: 'POST /api/login/nonces',
  exists: hasIdentities,
  may: 'public',
  takesSource: false,
} as const satisfies Contract;

export const logIn = {
  route: 'POST /api/login/identity',
  exists: hasIdentities,
  may: 'public',
  body: (settings) =>
    named(
      'IdentityLogin',
      v.object({ ...tokenAndNonce(), name: v.exactOptional(name), ...codeIfAny(settings) }),
    ),
  whenInvalid: { idToken: 'ID_TOKEN_REQUIRED', nonce: 'ID_TOKEN_REQUIRED', name: 'FIELD_INVALID' },
  storageFault: ['Error checking user', 'err'],
} as const satisfies Contract;

export const list = {
  route: 'GET /api/identities',
  exists: hasIdentities,
  may: 'own',
  storageFault: ['Error listing identities', 'err'],
} as const satisfies Contract;

export const link = {
  route: 'POST /api/identities',
  exists: hasIdentities,
  may: 'own',
  // The confirmation is checked only if the token is valid.
  body: (settings) =>
    named(
      'IdentityLink',
      v.object({
        ...tokenAndNonce(),
        currentPassword: passwordIfAny(),
        ...codeIfAny(settings),
        currentIdToken: textIfAny(),
        currentNonce: textIfAny(),
      }),
    ),
  whenInvalid: 'ID_TOKEN_REQUIRED',
  storageFault: ['Error linking identity', 'err'],
} as const satisfies Contract;

export const unlink = {
  route: 'POST /api/identities/{identity}/removals',
  exists: hasIdentities,
  may: 'own',
  body: (settings) => confirmationWithCode('IdentityRemoval', settings),
  whenInvalid: 'CURRENT_PASSWORD_REQUIRED',
  storageFault: ['Error unlinking identity', 'err'],
} as const satisfies Contract;

export const unlinkOfUser = {
  route: 'DELETE /api/users/{id}/identities/{identity}',
  exists: hasIdentities,
  may: 'administerOthers',
  storageFault: ['Error unlinking identity', 'err'],
} as const satisfies Contract;

export const tag = 'Accounts';

export const descriptions: Descriptions = {
  makeNonce: () => ({
    id: 'makeNonce',
    summary: 'Get a nonce for an ID token',
    text: 'The app hands it to the SDK of the issuer. It is good for ten minutes, and for one login.',
    success: {
      status: 200,
      description: 'The nonce.',
      schema: named('Nonce', v.object({ nonce: v.string() })),
      example: { nonce: exampleToken.nonce },
    },
  }),

  logIn: (settings) => ({
    id: 'logInByIdentity',
    summary: 'Log in, or register, by an ID token',
    text: [
      'The token of a known identity logs its user in as a password does.',
      'That of an unknown one registers a user without a password, if the issuer has verified the address and nobody has it: an identity is never linked by its address.',
      refusesUnmailable(settings),
    ],
    bodyExample: { ...exampleToken, name: 'Ada Lovelace' },
    success: {
      status: 200,
      description: 'The user is logged in.',
      schema: tokensUnder(settings),
      example: { message: 'Login successful', ...exampleTokens(settings) },
      alternative: { status: 201, description: 'The user is registered.' },
    },
    errors: [
      tokenErrors,
      'ACCOUNT_SUSPENDED',
      'EMAIL_NOT_VERIFIED',
      'EMAIL_REGISTERED',
      'TOKEN_FAULT',
      hasSecondFactors(settings) && ['LOGIN_CODE_REQUIRED', 'LOGIN_CODE_WRONG'],
    ],
  }),

  list: () => ({
    id: 'listIdentities',
    summary: 'List one’s own identities',
    success: {
      status: 200,
      description: 'The identities.',
      schema: named('Identities', v.object({ data: v.array(identity()) })),
      example: { data: [exampleIdentity] },
    },
  }),

  link: (settings) => ({
    id: 'linkIdentity',
    summary: 'Link an identity to one’s own account',
    text: [needsConfirmation, 'All other sessions of the caller are ended.'],
    bodyExample: { ...exampleToken, currentPassword: 'a long password of her own' },
    success: {
      status: 201,
      description: 'The identity is linked.',
      schema: identity(),
      example: exampleIdentity,
    },
    errors: [
      tokenErrors,
      'CURRENT_PASSWORD_REQUIRED',
      'CURRENT_PASSWORD_WRONG',
      'TOO_MANY_IDENTITIES',
      'IDENTITY_LINKED',
      'USER_NOT_FOUND',
      settings.emailVerification !== 'off' && 'EMAIL_NOT_VERIFIED',
      hasSecondFactors(settings) && ['CODE_REQUIRED', 'CODE_WRONG'],
    ],
  }),

  unlink: (settings) => ({
    id: 'unlinkIdentity',
    summary: 'Unlink an identity from one’s own account',
    text: [
      needsConfirmation,
      'All other sessions of the caller are ended. The last way to log in stays.',
    ],
    bodyExample: { currentPassword: 'a long password of her own' },
    success: { status: 204, description: 'The identity is unlinked.' },
    errors: [...confirmationWithCodeErrors(settings), 'LAST_LOGIN'],
  }),

  unlinkOfUser: () => ({
    id: 'unlinkIdentityOfUser',
    summary: 'Unlink an identity of a user',
    text: 'Admins unlink their own by the current password. All sessions of the user are ended. The last way to log in stays.',
    success: { status: 204, description: 'The identity is unlinked.' },
    errors: ['LAST_LOGIN'],
  }),
};

function tokenAndNonce() {
  return {
    idToken: described(filledText(), 'The ID token that the app got from the issuer.'),
    nonce: described(filledText(), 'The nonce of POST /api/login/nonces for which it is.'),
  };
}

const exampleToken = {
  idToken: 'eyJhbGciOiJSUzI1NiIsImtpZCI6IjEifQ.eyJpc3MiOiJodHRwczovL2FjY291bnRzIn0.c2lnbmF0dXJl',
  nonce: '1795428000.R0h2kQ9mT4yWcXbZ1nLp7A.S3cr3tS3cr3tS3cr3tS3cr3tS3cr3tS3cr3tS3cr3ts',
};

const tokenErrors = [
  'IDENTITY_TOKEN_INVALID',
  'IDENTITY_PROVIDER_FAULT',
  'TOO_MANY_ATTEMPTS',
] as const;

import * as v from 'valibot';
import type { Contract, Descriptions } from '../../lib/contract/contract.ts';
import {
  confirmationWithCode,
  confirmationWithCodeErrors,
  factorSessionError,
  named,
  needsConfirmation,
  timestamp,
} from '../../lib/contract/schemas.ts';
import { hasPasskeys, type ServiceValues } from '../../lib/ground/settings.ts';
import { described, rule } from '../../lib/ground/validation.ts';
import { name } from '../../lib/users/fields.ts';
import { exampleTokens, tokensUnder } from '../auth/contract.ts';

const own = { exists: hasPasskeys, may: 'own' } as const;

export const loginOptions = {
  route: 'POST /api/login/passkey-options',
  exists: hasPasskeys,
  may: 'public',
  takesSource: false,
} as const satisfies Contract;

export const logIn = {
  route: 'POST /api/login/passkey',
  exists: hasPasskeys,
  may: 'public',
  body: () => named('PasskeyLogin', v.object({ credential: credential('Used', usedParts()) })),
  whenInvalid: 'PASSKEY_INVALID',
  storageFault: ['Error checking user', 'err'],
} as const satisfies Contract;

export const list = {
  route: 'GET /api/passkeys',
  ...own,
  storageFault: ['Error listing passkeys', 'err'],
} as const satisfies Contract;

export const options = {
  route: 'POST /api/passkeys/options',
  ...own,
  body: (settings) => confirmationWithCode('PasskeyConfirmation', settings),
  whenInvalid: 'CURRENT_PASSWORD_REQUIRED',
  storageFault: ['Error adding passkey', 'err'],
} as const satisfies Contract;

export const add = {
  route: 'POST /api/passkeys',
  ...own,
  body: () =>
    named(
      'NewPasskey',
      v.object({ credential: credential('Made', madeParts()), name: v.exactOptional(name) }),
    ),
  whenInvalid: { credential: 'PASSKEY_INVALID', name: 'FIELD_INVALID' },
  storageFault: ['Error adding passkey', 'err'],
} as const satisfies Contract;

export const rename = {
  route: 'PATCH /api/passkeys/{passkey}',
  ...own,
  body: () => named('PasskeyName', v.object({ name })),
  storageFault: ['Error updating passkey', 'err'],
} as const satisfies Contract;

export const remove = {
  route: 'POST /api/passkeys/{passkey}/removals',
  ...own,
  body: (settings) => confirmationWithCode('PasskeyConfirmation', settings),
  whenInvalid: 'CURRENT_PASSWORD_REQUIRED',
  storageFault: ['Error removing passkey', 'err'],
} as const satisfies Contract;

export const tag = 'Accounts';

export const descriptions: Descriptions = {
  loginOptions: () => ({
    id: 'makePasskeyLoginOptions',
    summary: 'Get the options of a login by a passkey',
    text: 'A browser takes them by `PublicKeyCredential.parseRequestOptionsFromJSON`. They are the same for everybody but for the challenge, which is good for five minutes, and for one login.',
    success: {
      status: 200,
      description: 'The options.',
      schema: named(
        'PasskeyRequestOptions',
        v.object({
          challenge: v.string(),
          timeout: v.number(),
          rpId: v.string(),
          userVerification: v.string(),
        }),
      ),
      example: { ...exampleChallenge, rpId: 'example.com', userVerification: 'required' },
    },
  }),

  logIn: (settings) => ({
    id: 'logInByPasskey',
    summary: 'Log in by a passkey',
    text: 'A passkey stands for the password and the code. Failed logins are counted by source address alone, and the wrong passwords of an account make nobody wait. The header `Error-Code` is `PASSKEY_UNKNOWN` where no user has the credential; a browser must not be told to forget it, because it may belong to another service of the same domain.',
    bodyExample: {
      credential: exampleCredential({
        authenticatorData: 'SZYN5YgOjGh0NBcPZHZgW4',
        signature: 'MEUCIQCx',
        userHandle: exampleHandle,
      }),
    },
    success: {
      status: 200,
      description: 'The user is logged in.',
      schema: tokensUnder(settings),
      example: { message: 'Login successful', ...exampleTokens(settings) },
    },
    errors: [
      'LOGIN_PASSKEY_INVALID',
      'PASSKEY_UNKNOWN',
      'ACCOUNT_SUSPENDED',
      settings.emailVerification === 'required' && 'EMAIL_NOT_VERIFIED',
      'TOO_MANY_ATTEMPTS',
      'TOKEN_FAULT',
    ],
  }),

  list: () => ({
    id: 'listPasskeys',
    summary: 'List one’s own passkeys',
    text: 'Passkeys of another domain than `rp_id`, from before the setting was changed, log nobody in and can be removed. With `user_handle` and `rp_id` a browser can be told which passkeys are there (`PublicKeyCredential.signalAllAcceptedCredentials`).',
    success: {
      status: 200,
      description: 'The passkeys.',
      schema: named(
        'Passkeys',
        v.object({
          data: v.array(passkey()),
          user_handle: described(
            v.nullable(v.string()),
            'Null before the first options were made.',
          ),
          rp_id: v.string(),
        }),
      ),
      example: { data: [examplePasskey], user_handle: exampleHandle, rp_id: 'example.com' },
    },
  }),

  options: (settings) => ({
    id: 'makePasskeyOptions',
    summary: 'Get the options that make a passkey',
    text: [
      needsConfirmation,
      'A browser takes them by `PublicKeyCredential.parseCreationOptionsFromJSON`. The challenge is good for five minutes, for one passkey, and in this session alone.',
    ],
    bodyExample: exampleConfirmation,
    success: {
      status: 200,
      description: 'The options.',
      schema: creationOptions(),
      example: {
        ...exampleChallenge,
        rp: { id: 'example.com', name: 'Example' },
        user: { id: exampleHandle, name: 'ada@example.org', displayName: 'Ada Lovelace' },
        pubKeyCredParams: [{ type: 'public-key', alg: -7 }],
        excludeCredentials: [{ type: 'public-key', id: examplePasskey.credential_id }],
        authenticatorSelection: {
          residentKey: 'required',
          requireResidentKey: true,
          userVerification: 'required',
        },
        attestation: 'none',
      },
    },
    errors: [...confirmationWithCodeErrors(settings), ...addingErrors(settings)],
  }),

  add: (settings) => ({
    id: 'addPasskey',
    summary: 'Add a passkey to one’s own account',
    text: 'All other sessions of the caller are ended. Without a name it is called `Passkey`.',
    bodyExample: {
      credential: exampleCredential({ attestationObject: 'o2NmbXRkbm9uZQ' }),
      name: examplePasskey.name,
    },
    success: {
      status: 201,
      description: 'The passkey is added.',
      schema: passkey(),
      example: { ...examplePasskey, last_used_at: null },
    },
    errors: ['PASSKEY_REGISTERED', 'USER_NOT_FOUND', ...addingErrors(settings)],
  }),

  rename: () => ({
    id: 'renamePasskey',
    summary: 'Rename a passkey',
    bodyExample: { name: 'My telephone' },
    success: {
      status: 200,
      description: 'The passkey.',
      schema: passkey(),
      example: { ...examplePasskey, name: 'My telephone' },
    },
    errors: ['USER_NOT_FOUND'],
  }),

  remove: (settings) => ({
    id: 'removePasskey',
    summary: 'Remove a passkey from one’s own account',
    text: [needsConfirmation, 'All other sessions of the caller are ended.'],
    bodyExample: exampleConfirmation,
    success: { status: 204, description: 'The passkey is removed.' },
    errors: [...confirmationWithCodeErrors(settings), factorSessionError(settings)],
  }),
};

const form = 'must be a credential';

/** @param done whether the browser has made or used the credential @param parts the parts of its response */
function credential<const Parts extends v.ObjectEntries>(done: 'Made' | 'Used', parts: Parts) {
  const name = `${done}Credential`;
  // An id has at most 1,023 bytes (Web Authentication, Level 3, section 4).
  const id = bytes('{1,1364}');
  const response = named(`${name}Response`, v.object(parts, form));
  return described(
    named(name, v.object({ id, rawId: id, type: v.string(form), response }, form)),
    `The credential that the browser has ${done.toLowerCase()}, as its \`toJSON\` writes it.`,
  );
}

/** Bytes as browsers write them in JSON (base64url). @param quantifier how many characters, as in a pattern */
function bytes(quantifier = '+') {
  const pattern = new RegExp(`^[A-Za-z0-9_\\-]${quantifier}$`);
  return v.pipe(
    v.string(form),
    rule({
      code: 'INVALID_FORMAT',
      holds: (text) => pattern.test(text),
      message: () => form,
      keywords: () => ({ pattern: pattern.source }),
    }),
  );
}

function usedParts() {
  return {
    ...v.entriesFromList(['clientDataJSON', 'authenticatorData', 'signature'], bytes()),
    userHandle: v.exactOptional(v.nullable(bytes('*'))),
  };
}

function madeParts() {
  return v.entriesFromList(['clientDataJSON', 'attestationObject'], bytes());
}

const examplePasskey = {
  id: 'R0h2kQ9mT4yWcXbZ',
  name: 'Passkey',
  created_at: '2026-11-20T09:00:00.000Z',
  last_used_at: '2026-11-21T09:06:00.000Z',
  backed_up: true,
  credential_id: 'R0h2kQ9mT4yWcXbZ1nLp7A',
  rp_id: 'example.com',
};

function exampleCredential(response: object) {
  const { credential_id: id } = examplePasskey;
  const clientDataJSON = 'eyJ0eXBlIjoid2ViYXV0aG4uZ2V0In0';
  return { id, rawId: id, type: 'public-key', response: { clientDataJSON, ...response } };
}

function passkey() {
  return named(
    'Passkey',
    v.object({
      id: v.string(),
      name: v.string(),
      created_at: timestamp(),
      last_used_at: v.nullable(timestamp()),
      backed_up: described(v.boolean(), 'Whether its authenticator has a copy of it elsewhere.'),
      credential_id: v.string(),
      rp_id: described(v.string(), 'The domain for which it was made.'),
    }),
  );
}

function creationOptions() {
  const descriptor = { type: v.string(), id: v.string() };
  const user = { id: v.string(), name: v.string(), displayName: v.string() };
  const algorithm = { type: v.string(), alg: v.number() };
  const selection = {
    residentKey: v.string(),
    requireResidentKey: v.boolean(),
    userVerification: v.string(),
  };
  return named(
    'PasskeyCreationOptions',
    v.object({
      challenge: v.string(),
      timeout: v.number(),
      rp: named('PasskeyDomain', v.object({ id: v.string(), name: v.string() })),
      user: named('PasskeyUser', v.object(user)),
      pubKeyCredParams: v.array(named('PasskeyAlgorithm', v.object(algorithm))),
      excludeCredentials: v.array(named('PasskeyDescriptor', v.object(descriptor))),
      authenticatorSelection: named('PasskeySelection', v.object(selection)),
      attestation: v.string(),
    }),
  );
}

function addingErrors(settings: ServiceValues) {
  return [
    'TOO_MANY_PASSKEYS',
    settings.emailVerification !== 'off' && 'EMAIL_NOT_VERIFIED',
    factorSessionError(settings),
  ] as const;
}

const exampleHandle = 'S3cr3tS3cr3tS3cr3tS3cr3tS3cr3tS3cr3tS3cr3ts';

const exampleChallenge = {
  challenge: 'MTc5NTQyODAwMC5SMGgya1E5bVQ0eVdjWGJaMW5McDdB',
  timeout: 300_000,
};

const exampleConfirmation = { currentPassword: 'a long password of her own' };

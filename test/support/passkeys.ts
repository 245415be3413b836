/** An authenticator in software, the browser around it, and the requests that both make to a service. */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign as signature,
} from 'node:crypto';
import type { ApiAnswer, ApiClient } from './client.ts';

export const rpId = 'example.com';
export const origin = 'https://app.example.com';

/** The settings with which users have passkeys. */
export const passkeySettings = {
  SESSION_DAYS: '90',
  PASSKEYS: JSON.stringify({ rpId, origins: [origin, 'https://example.com:8443'] }),
  LOGIN_FAILURES_PER_ADDRESS: '0',
} as const;

export type Cbor = number | string | Uint8Array | ReadonlyMap<number | string, Cbor>;

/** A value in CBOR (RFC 8949), as far as authenticators need it. */
export const cbor = (value: Cbor): Buffer => {
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value);
  if (typeof value === 'string') {
    return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  }
  if (value instanceof Uint8Array) return Buffer.concat([head(2, value.length), value]);
  const entries = [...value].flatMap(([key, each]) => [cbor(key), cbor(each)]);
  return Buffer.concat([head(5, value.size), ...entries]);
};

const head = (major: number, length: number): Buffer => {
  if (length < 24) return Buffer.from([(major << 5) | length]);
  if (length < 256) return Buffer.from([(major << 5) | 24, length]);
  return Buffer.from([(major << 5) | 25, length >> 8, length & 255]);
};

const algorithms = {
  ES256: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  ES256onP384: () => generateKeyPairSync('ec', { namedCurve: 'P-384' }),
  EdDSA: () => generateKeyPairSync('ed25519'),
  RS256: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  RS256short: () => generateKeyPairSync('rsa', { modulusLength: 1024 }),
} as const;
export type Algorithm = keyof typeof algorithms;

const algorithmIds = { ES256: -7, ES256onP384: -7, EdDSA: -8, RS256: -257, RS256short: -257 };

/** A public key in the form of COSE (RFC 9052). */
const coseOf = (publicKey: KeyObject): ReadonlyMap<number, Cbor> => {
  const { kty, x = '', y = '', n = '', e = '', crv } = publicKey.export({ format: 'jwk' });
  const bytes = (text: string) => Buffer.from(text, 'base64url');
  const all: Readonly<Record<string, readonly (readonly [number, Cbor])[]>> = {
    EC: [
      [1, 2],
      [3, -7],
      [-1, crv === 'P-256' ? 1 : 2],
      [-2, bytes(x)],
      [-3, bytes(y)],
    ],
    OKP: [
      [1, 1],
      [3, -8],
      [-1, 6],
      [-2, bytes(x)],
    ],
    RSA: [
      [1, 3],
      [3, -257],
      [-1, bytes(n)],
      [-2, bytes(e)],
    ],
  };
  return new Map(all[kty ?? '']);
};

const sha256 = (data: string | Buffer): Buffer => createHash('sha256').update(data).digest();

/** The differences between a genuine authenticator or browser and the authenticator or browser of a test. */
export interface Changes {
  readonly rpId?: string;
  readonly origin?: string;
  readonly type?: string;
  readonly challenge?: string;
  readonly isPresent?: boolean;
  readonly isVerified?: boolean;
  /** Changes in the client data. */
  readonly client?: object;
  readonly counter?: number;
  readonly userHandle?: string | null;
  readonly id?: string;
  readonly key?: KeyObject;
  readonly signature?: (genuine: Buffer) => Buffer;
  /** The form of the attestation, and its statement: the passkey's own signature, or another one. */
  readonly fmt?: string | number;
  readonly statement?: 'own' | ReadonlyMap<string, Cbor>;
  /** Changes the public key in the form of COSE. */
  readonly cose?: (genuine: ReadonlyMap<number, Cbor>) => ReadonlyMap<number, Cbor>;
  /** Changes the authenticator data after it was signed. */
  readonly altered?: (data: Buffer) => Buffer;
}

/** The data about a passkey that are stored, as JSON. */
export interface KnownPasskey {
  readonly id: string;
  readonly handle: string;
  readonly pem: string;
}

/** A passkey in software: a new one, or one whose data are given. */
export const newPasskey = ({
  algorithm = 'ES256' as Algorithm,
  isBackedUp = false,
  /** The number of bytes of its id. */
  bytes = 16,
  transports = ['internal'],
  known = undefined as KnownPasskey | undefined,
} = {}) => {
  const privateKey = known ? createPrivateKey(known.pem) : algorithms[algorithm]().privateKey;
  const publicKey = createPublicKey(privateKey);
  const id = known?.id ?? randomBytes(bytes).toString('base64url');
  let handle = known?.handle ?? '';

  const clientData = (type: string, challenge: string, changes: Changes) =>
    Buffer.from(
      JSON.stringify({
        type: changes.type ?? type,
        challenge: changes.challenge ?? challenge,
        origin: changes.origin ?? origin,
        crossOrigin: false,
        ...changes.client,
      }),
    );
  const dataOf = (changes: Changes, attested: Buffer = Buffer.alloc(0)) => {
    const { isPresent = true, isVerified = true, counter = 0 } = changes;
    const backup = isBackedUp ? 0x18 : 0;
    const flags =
      (isPresent ? 1 : 0) | (isVerified ? 4 : 0) | backup | (attested.length > 0 ? 0x40 : 0);
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counter);
    return Buffer.concat([sha256(changes.rpId ?? rpId), Buffer.from([flags]), count, attested]);
  };
  const signedBy = (key: KeyObject, data: Buffer, client: Buffer) => {
    const hash = algorithm === 'EdDSA' ? null : 'sha256';
    return signature(hash, Buffer.concat([data, sha256(client)]), key);
  };
  const common = (changes: Changes) => {
    const ownId = changes.id ?? id;
    return { id: ownId, rawId: ownId, type: 'public-key', clientExtensionResults: {} };
  };

  return {
    id,
    privateKey,
    publicKey: cbor(coseOf(publicKey)),
    known: (): KnownPasskey => ({
      id,
      handle,
      pem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    }),
    /** The result of `navigator.credentials.create` for creation options, as JSON. */
    make: (
      { challenge, user }: { challenge: string; user?: { id: string } },
      changes: Changes = {},
    ) => {
      handle = user?.id ?? handle;
      const ownId = Buffer.from(id, 'base64url');
      const length = Buffer.from([ownId.length >> 8, ownId.length & 255]);
      const key = cbor(changes.cose?.(coseOf(publicKey)) ?? coseOf(publicKey));
      const attested = Buffer.concat([Buffer.alloc(16), length, ownId, key]);
      const authData = dataOf(changes, attested);
      const client = clientData('webauthn.create', challenge, changes);
      const { statement = new Map<string, Cbor>() } = changes;
      const own = new Map<string, Cbor>([
        ['alg', algorithmIds[algorithm]],
        ['sig', signedBy(changes.key ?? privateKey, authData, client)],
      ]);
      const attestation = new Map<string, Cbor>([
        ['fmt', changes.fmt ?? (statement === 'own' ? 'packed' : 'none')],
        ['attStmt', statement === 'own' ? own : statement],
        ['authData', changes.altered?.(authData) ?? authData],
      ]);
      const response = {
        clientDataJSON: client.toString('base64url'),
        attestationObject: cbor(attestation).toString('base64url'),
        transports,
      };
      return { ...common(changes), response };
    },
    /** The result of `navigator.credentials.get` for request options, as JSON. */
    use: ({ challenge }: { challenge: string }, changes: Changes = {}) => {
      const client = clientData('webauthn.get', challenge, changes);
      const data = dataOf(changes);
      const genuine = signedBy(changes.key ?? privateKey, data, client);
      const response = {
        clientDataJSON: client.toString('base64url'),
        authenticatorData: (changes.altered?.(data) ?? data).toString('base64url'),
        signature: (changes.signature?.(genuine) ?? genuine).toString('base64url'),
        userHandle: changes.userHandle === undefined ? handle : changes.userHandle,
      };
      return { ...common(changes), response };
    },
  };
};
export type Passkey = ReturnType<typeof newPasskey>;

/** The requests about passkeys that an app sends to a service. */
export const passkeyClient = (api: ApiClient) => {
  const optionsFor = async (token: string, confirmation: object): Promise<ApiAnswer> =>
    api('POST', '/api/passkeys/options', { token, json: confirmation });
  const loginOptions = async () => (await api('POST', '/api/login/passkey-options')).body;
  const send = (credential: object, headers = {}): Promise<ApiAnswer> =>
    api('POST', '/api/login/passkey', { json: { credential }, headers });
  return {
    optionsFor,
    loginOptions,
    send,
    /** Adds a passkey to the account of a token. */
    add: async (
      { token, password }: { token: string; password: string },
      passkey: Passkey = newPasskey(),
      fields: object = {},
    ) => {
      const { code, ...others }: { code?: string } = fields;
      const confirmation = { currentPassword: password, ...(code ? { code } : {}) };
      const { body } = await optionsFor(token, confirmation);
      const json = { credential: passkey.make(body), ...others };
      const answer = await api('POST', '/api/passkeys', { token, json });
      return { passkey, answer, id: answer.body.id as string };
    },
    signIn: async (passkey: Passkey, changes: Changes = {}, headers = {}): Promise<ApiAnswer> =>
      send(passkey.use(await loginOptions(), changes), headers),
    list: (token: string): Promise<ApiAnswer> => api('GET', '/api/passkeys', { token }),
    remove: (token: string, id: string, confirmation: object): Promise<ApiAnswer> =>
      api('POST', `/api/passkeys/${id}/removals`, { token, json: confirmation }),
  };
};

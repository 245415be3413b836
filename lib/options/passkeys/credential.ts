/**
 * The options by which browsers make and use passkeys, and how their responses are verified (Web
 * Authentication, Level 3). The challenge is a nonce, so that making one writes nothing.
 */
import { createPublicKey, type JsonWebKey } from 'node:crypto';
import {
  type AuthenticationResponseJSON,
  type RegistrationResponseJSON,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server';
import {
  cose,
  decodeClientDataJSON,
  decodeCredentialPublicKey,
} from '@simplewebauthn/server/helpers';
import { config, type PasskeySettings } from '../../ground/settings.ts';
import { isNonce, makeNonce, type NonceKind } from '../../keys/nonce.ts';
import type { StoredUser } from '../../users/item.ts';
import type { Bearer } from '../sessions/bearer.ts';
import type { Credential } from './passkeys.ts';

/** Seconds for which a challenge is good. */
const lifetime = 5 * 60;

/** The challenges of logins. */
export const forLogin: NonceKind = { purpose: 'passkey-login', lifetime };

/** The challenges by which a caller adds a passkey in a session. */
export function forAdding({ id, session }: Bearer): NonceKind {
  return { purpose: `passkey:${id}:${session.id}`, lifetime };
}

/** The domain and the origins of passkeys, from PASSKEYS. */
export function relyingParty(): PasskeySettings {
  return JSON.parse(config.passkeys);
}

/**
 * The options of a login, for a browser's `parseRequestOptionsFromJSON`. They name no credential: the browser
 * offers the passkeys that it knows.
 */
export async function loginOptions() {
  return { ...(await commonOptions(forLogin)), rpId: relyingParty().rpId, userVerification };
}

/**
 * The options that make a passkey, for a browser's `parseCreationOptionsFromJSON`.
 * @param product the service, as authenticators show it
 * @param handle the name under which they keep the passkeys of the user
 */
export async function creationOptions(caller: Bearer, handle: string, product: string) {
  const { email, name, passkeys = [] } = caller;
  return {
    ...(await commonOptions(forAdding(caller))),
    rp: { id: relyingParty().rpId, name: product },
    user: { id: handle, name: email, displayName: name },
    pubKeyCredParams: algorithms.map((alg) => ({ type, alg })),
    excludeCredentials: passkeys.map(({ credential_id: id }) => ({ type, id })),
    authenticatorSelection: {
      residentKey: 'required',
      requireResidentKey: true,
      userVerification,
    },
    attestation: 'none',
  } as const;
}

/** A credential that a browser has made, as its `toJSON` writes it: not verified yet, and bytes in base64url. */
export interface Made {
  readonly id: string;
  readonly rawId: string;
  readonly type: string;
  readonly response: { readonly clientDataJSON: string; readonly attestationObject: string };
}

/** The same for a credential that a browser has used. */
export interface Used {
  readonly id: string;
  readonly rawId: string;
  readonly type: string;
  readonly response: {
    readonly clientDataJSON: string;
    readonly authenticatorData: string;
    readonly signature: string;
    readonly userHandle: string;
  };
}

/**
 * Verifies what a browser has made for a challenge, which is not used up by this.
 * @returns the credential, and the challenge; undefined for what is not valid
 * @throws what {@link isNonce} throws
 */
export async function verifyMade(
  made: Made,
  kind: NonceKind,
): Promise<{ credential: Credential; nonce: string } | undefined> {
  const nonce = await nonceOf(made, kind);
  if (nonce === undefined) return undefined;
  const { rpId, origins } = relyingParty();
  const { verified, registrationInfo } = await unlessInvalid(
    verifyRegistrationResponse({
      response: { ...made, clientExtensionResults: {} } as RegistrationResponseJSON,
      expectedChallenge: challengeOf(nonce),
      expectedOrigin: [...origins],
      expectedRPID: rpId,
      supportedAlgorithmIDs: algorithms,
    }),
  );
  if (!verified || !registrationInfo) return undefined;
  const { credential, credentialBackedUp: backed_up } = registrationInfo;
  const { id: credential_id, publicKey: public_key, counter } = credential;
  if (credential_id !== made.id || !isStrong(public_key)) return undefined;
  return { credential: { credential_id, public_key, counter, backed_up }, nonce };
}

/**
 * Verifies that a credential of a user has signed a challenge for a login, which is not used up by this.
 * @returns the counter and state of the credential, and the challenge; undefined for what is not valid
 * @throws what {@link isNonce} throws
 */
export async function verifyUsed(
  used: Used,
  { passkey_handle }: StoredUser,
  publicKey: Uint8Array,
): Promise<{ credential: Omit<Credential, 'public_key'>; nonce: string } | undefined> {
  const nonce = await nonceOf(used, forLogin);
  if (nonce === undefined || used.response.userHandle !== passkey_handle) return undefined;
  if (cose.isCOSEPublicKeyEC2(decode(publicKey)) && !isCanonical(used.response.signature))
    return undefined;
  const { rpId, origins } = relyingParty();
  const { verified, authenticationInfo } = await unlessInvalid(
    verifyAuthenticationResponse({
      response: { ...used, clientExtensionResults: {} } as AuthenticationResponseJSON,
      expectedChallenge: challengeOf(nonce),
      expectedOrigin: [...origins],
      expectedRPID: rpId,
      // The counter is compared when it is written.
      credential: { id: used.id, publicKey: new Uint8Array(publicKey), counter: 0 },
    }),
  );
  if (!verified || !authenticationInfo) return undefined;
  const { newCounter: counter, credentialBackedUp: backed_up } = authenticationInfo;
  return { credential: { credential_id: used.id, counter, backed_up }, nonce };
}

const type = 'public-key';
const userVerification = 'required';

/** ES256, EdDSA and RS256 (RFC 9053 and RFC 8812), in the order of preference. */
const algorithms = [cose.COSEALG.ES256, cose.COSEALG.EdDSA, cose.COSEALG.RS256];

async function commonOptions(kind: NonceKind) {
  return { challenge: challengeOf(await makeNonce(kind)), timeout: lifetime * 1000 };
}

function challengeOf(nonce: string): string {
  return Buffer.from(nonce).toString('base64url');
}

/**
 * The nonce of a signed challenge; undefined if it is not valid, or was signed in a frame of another origin,
 * which the library would allow.
 */
async function nonceOf(
  { response: { clientDataJSON } }: Made | Used,
  kind: NonceKind,
): Promise<string | undefined> {
  const { challenge, crossOrigin, topOrigin } = clientDataIn(clientDataJSON);
  const isInFrame = crossOrigin === true || topOrigin !== undefined;
  if (typeof challenge !== 'string' || isInFrame) return undefined;
  const nonce = Buffer.from(challenge, 'base64url').toString();
  return (await isNonce(nonce, kind)) ? nonce : undefined;
}

function clientDataIn(
  text: string,
): Partial<Record<'challenge' | 'crossOrigin' | 'topOrigin', unknown>> {
  try {
    return decodeClientDataJSON(text) ?? {};
  } catch {
    return {};
  }
}

/** The outcome of the library, which throws for most of what is not valid. */
function unlessInvalid<T>(verifying: Promise<T>): Promise<Partial<T>> {
  return verifying.catch(() => ({}));
}

/** Whether a public key is valid. One of RSA has 2,048 bits or more to be safe, and at most 4,096 to be fast. */
function isStrong(publicKey: Uint8Array): boolean {
  try {
    const key = createPublicKey({ key: jwkOf(publicKey), format: 'jwk' });
    const { modulusLength = 2048 } = key.asymmetricKeyDetails ?? {};
    return modulusLength >= 2048 && modulusLength <= 4096;
  } catch {
    return false;
  }
}

/** A public key as Node takes it; one on another curve does not fit. */
function jwkOf(publicKey: Uint8Array): JsonWebKey {
  const key = decode(publicKey);
  const parts = key as unknown as ReadonlyMap<number, Uint8Array>;
  const text = (name: number) => Buffer.from(parts.get(name) ?? []).toString('base64url');
  const { x, y, n, e } = cose.COSEKEYS;
  if (cose.isCOSEPublicKeyEC2(key)) return { kty: 'EC', crv: 'P-256', x: text(x), y: text(y) };
  if (cose.isCOSEPublicKeyOKP(key)) return { kty: 'OKP', crv: 'Ed25519', x: text(x) };
  return { kty: 'RSA', n: text(n), e: text(e) };
}

/** A copy, because the store gives a view of a larger buffer. */
function decode(publicKey: Uint8Array) {
  return decodeCredentialPublicKey(new Uint8Array(publicKey));
}

/**
 * Whether a signature is the one encoding of its two numbers (DER), which parsers of ASN.1 do not require:
 * a sequence of two integers that are positive and no longer than they need to be. Of a number and its
 * complement both are right, because half of all authenticators send the higher one.
 */
function isCanonical(signature: string): boolean {
  const der = Buffer.from(signature, 'base64url');
  const end = integerEnd(der, 2);
  return der[0] === 0x30 && der[1] === der.length - 2 && integerEnd(der, end) === der.length;
}

/** The offset at which the integer ends that begins at another offset; Infinity: none begins there. */
function integerEnd(der: Buffer, start: number): number {
  const [tag, length = 0, first = 0, second = 0] = der.subarray(start);
  const isLong = first === 0 && (length === 1 || second < 0x80);
  if (tag !== 0x02 || length === 0 || length > 33 || first >= 0x80 || isLong) return Infinity;
  return start + 2 + length;
}

/**
 * Makes the options with which browsers create and use passkeys, and verifies the responses of browsers (Web
 * Authentication, Level 3). A challenge is a nonce, so that nothing is written when a challenge is made.
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
  decodeAttestationObject,
  decodeClientDataJSON,
  decodeCredentialPublicKey,
  isoCBOR,
} from '@simplewebauthn/server/helpers';
import { DomainError } from '../../ground/errors.ts';
import { isNonce, makeNonce, type NonceKind } from '../../keys/nonce.ts';
import type { StoredUser } from '../../users/item.ts';
import type { Bearer } from '../sessions/bearer.ts';
import { type Credential, passkeysInForce, relyingParty } from './passkeys.ts';

/** Seconds for which a challenge is valid. */
const lifetime = 5 * 60;

export const forLogin: NonceKind = { purpose: 'passkey-login', lifetime };

export function forAdding({ id, session }: Bearer): NonceKind {
  return { purpose: `passkey:${id}:${session.id}`, lifetime };
}

/** For `parseRequestOptionsFromJSON`. No credential is named: the browser offers the passkeys that it knows. */
export async function loginOptions() {
  return { ...(await commonOptions(forLogin)), rpId: relyingParty().rpId, userVerification };
}

/** For `parseCreationOptionsFromJSON`. @param handle the name under which authenticators keep the passkeys */
export async function creationOptions(caller: Bearer, handle: string, product: string) {
  const { email, name } = caller;
  return {
    ...(await commonOptions(forAdding(caller))),
    rp: { id: relyingParty().rpId, name: product },
    user: { id: handle, name: email, displayName: name },
    pubKeyCredParams: algorithms.map((alg) => ({ type, alg })),
    excludeCredentials: passkeysInForce(caller).map(({ credential_id: id }) => ({ type, id })),
    authenticatorSelection: {
      residentKey: 'required',
      requireResidentKey: true,
      userVerification,
    },
    attestation: 'none',
  } as const;
}

/** A credential as the `toJSON` of a browser writes it. It is not verified yet; its bytes are in base64url. */
interface Given<Part extends string> {
  readonly id: string;
  readonly rawId: string;
  readonly type: string;
  readonly response: Readonly<Record<Part, string>>;
}

export type Made = Given<'clientDataJSON' | 'attestationObject'>;

export type Used = Given<'clientDataJSON' | 'authenticatorData' | 'signature'> & {
  /** The user handle, which not every authenticator sends: the credential alone identifies the user. */
  readonly response: { readonly userHandle?: string | null | undefined };
};

/**
 * Verifies a credential that a browser has made for a challenge. The challenge is not used up.
 * @returns the credential, and the challenge; undefined if they are not valid
 */
export async function verifyMade(made: Made, kind: NonceKind) {
  const found = await outcomeOfLibrary(made, kind, (expected) => {
    const { clientDataJSON, attestationObject } = made.response;
    const parts = { clientDataJSON, attestationObject: unattested(attestationObject) };
    const response = { ...made, response: parts, clientExtensionResults: {} };
    return verifyRegistrationResponse({
      ...expected,
      response: response as RegistrationResponseJSON,
      supportedAlgorithmIDs: algorithms,
    });
  });
  if (!found?.registrationInfo) return undefined;
  const { credential, credentialBackedUp: backed_up } = found.registrationInfo;
  const { id: credential_id, publicKey: public_key, counter } = credential;
  if (credential_id !== made.id || !isStrong(public_key)) return undefined;
  return { credential: { credential_id, public_key, counter, backed_up }, nonce: found.nonce };
}

/**
 * Verifies that a credential of a user has signed a challenge for a login. The challenge is not used up.
 * @returns the counter and state of the credential, and the challenge; undefined if they are not valid
 */
export async function verifyUsed(
  used: Used,
  { passkey_handle }: StoredUser,
  publicKey: Uint8Array,
): Promise<{ credential: Omit<Credential, 'public_key'>; nonce: string } | undefined> {
  const { id: credential_id } = used;
  const { userHandle } = used.response;
  if (userHandle && userHandle !== passkey_handle) return undefined;
  // The key is copied, because the bytes that the store returns are part of a larger buffer. The counter is compared
  // when it is written.
  const credential = { id: credential_id, publicKey: new Uint8Array(publicKey), counter: 0 };
  const response = { ...used, clientExtensionResults: {} } as AuthenticationResponseJSON;
  const found = await outcomeOfLibrary(used, forLogin, (expected) =>
    verifyAuthenticationResponse({ ...expected, response, credential }),
  );
  if (!found) return undefined;
  const isOfCurve = cose.isCOSEPublicKeyEC2(decodeCredentialPublicKey(credential.publicKey));
  if (isOfCurve && !isCanonical(used.response.signature)) return undefined;
  const { newCounter: counter, credentialBackedUp: backed_up } = found.authenticationInfo;
  return { credential: { credential_id, counter, backed_up }, nonce: found.nonce };
}

const type = 'public-key';
const userVerification = 'required';

/** ES256, EdDSA and RS256 (RFC 9053 and RFC 8812), in the order of preference. */
const algorithms = [cose.COSEALG.ES256, cose.COSEALG.EdDSA, cose.COSEALG.RS256];

async function commonOptions(kind: NonceKind) {
  const challenge = Buffer.from(await makeNonce(kind)).toString('base64url');
  return { challenge, timeout: lifetime * 1000 };
}

interface Expected {
  readonly expectedChallenge: () => Promise<boolean>;
  readonly expectedOrigin: string[];
  readonly expectedRPID: string;
}

/** A response is not valid if it was signed in a frame of another origin, which the library would allow. */
async function outcomeOfLibrary<Outcome extends { readonly verified: boolean }>(
  { response: { clientDataJSON } }: Made | Used,
  kind: NonceKind,
  verify: (expected: Expected) => Promise<Outcome>,
): Promise<(Outcome & { nonce: string }) | undefined> {
  const { rpId, origins } = relyingParty();
  try {
    const { challenge, crossOrigin, topOrigin } = decodeClientDataJSON(clientDataJSON);
    const nonce = Buffer.from(challenge, 'base64url').toString();
    const expectedChallenge = () => isNonce(nonce, kind);
    const expected = { expectedChallenge, expectedOrigin: [...origins], expectedRPID: rpId };
    const outcome = await verify(expected);
    const isInFrame = crossOrigin || topOrigin !== undefined;
    return outcome.verified && !isInFrame ? { ...outcome, nonce } : undefined;
  } catch (error) {
    // For most invalid responses, the library throws plain errors.
    if (error instanceof DomainError) throw error;
    return undefined;
  }
}

/** The bytes of the longest attestation object that is decoded: the certificates of Windows take 6,000 bytes. */
const maxAttestation = 16 * 1024;

/** The statement is left out: some browsers send one, though none is requested, and it would not be trusted. */
function unattested(attestationObject: string): string {
  const bytes = Buffer.from(attestationObject, 'base64url');
  if (bytes.length > maxAttestation) throw new Error('The attestation object is too long');
  const authData = decodeAttestationObject(new Uint8Array(bytes)).get('authData');
  const object = new Map<string, unknown>([
    ['fmt', 'none'],
    ['attStmt', new Map()],
    ['authData', authData],
  ]);
  return Buffer.from(isoCBOR.encode(object as Parameters<typeof isoCBOR.encode>[0])).toString(
    'base64url',
  );
}

/** The bytes of the longest public key: an RSA key of 4,096 bits has 528 bytes. */
const maxKey = 1024;

/**
 * Whether a new public key is valid. An RSA key must have at least 2,048 bits and an odd exponent of at least 65,537 to
 * be secure (NIST SP 800-56B), and at most 4,096 bits and an exponent of at most 32 bits to be fast.
 */
function isStrong(publicKey: Bytes): boolean {
  if (publicKey.length > maxKey) return false;
  try {
    const key = createPublicKey({ key: jwkOf(publicKey), format: 'jwk' });
    const { modulusLength = 2048, publicExponent = 65537n } = key.asymmetricKeyDetails ?? {};
    const isOdd = publicExponent % 2n === 1n;
    const isExponent = isOdd && publicExponent >= 65537n && publicExponent < 2n ** 32n;
    return isExponent && modulusLength >= 2048 && modulusLength <= 4096;
  } catch {
    return false;
  }
}

/** A public key in the form for Node. In this form, the coordinates of a key on another curve are not valid. */
function jwkOf(publicKey: Bytes): JsonWebKey {
  const key = decodeCredentialPublicKey(publicKey);
  const parts = key as unknown as ReadonlyMap<number, Bytes>;
  const text = (name: number) => Buffer.from(parts.get(name) ?? []).toString('base64url');
  const { x, y, n, e } = cose.COSEKEYS;
  if (cose.isCOSEPublicKeyEC2(key)) return { kty: 'EC', crv: 'P-256', x: text(x), y: text(y) };
  if (cose.isCOSEPublicKeyOKP(key)) return { kty: 'OKP', crv: 'Ed25519', x: text(x) };
  return { kty: 'RSA', n: text(n), e: text(e) };
}

type Bytes = Uint8Array<ArrayBuffer>;

/**
 * Whether a signature has the only encoding that DER allows: a sequence of two positive integers of minimal length.
 * Parsers of ASN.1 also accept other encodings. The second integer may be in the upper half of its range, as it is in
 * half of all signatures.
 */
function isCanonical(signature: string): boolean {
  const der = Buffer.from(signature, 'base64url');
  const end = integerEnd(der, 2);
  return der[0] === 0x30 && der[1] === der.length - 2 && integerEnd(der, end) === der.length;
}

/** The offset at which the integer ends that begins at `start`; Infinity if no integer begins there. */
function integerEnd(der: Buffer, start: number): number {
  const [tag, length = 0, first = 0, second = 0] = der.subarray(start);
  const isLong = first === 0 && (length === 1 || second < 0x80);
  if (tag !== 0x02 || length === 0 || length > 33 || first >= 0x80 || isLong) return Infinity;
  return start + 2 + length;
}

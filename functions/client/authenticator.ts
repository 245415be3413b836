/** The browser's requests for passkeys. The service sends their options, and takes their credentials, as JSON. */
import { AccountsError } from './answer.ts';
import type {
  MadeCredential,
  PasskeyCreationOptions,
  PasskeyRequestOptions,
  UsedCredential,
} from './paths.ts';

interface Browser {
  readonly PublicKeyCredential?: { isConditionalMediationAvailable?(): Promise<boolean> };
  readonly navigator?: { readonly credentials?: Readonly<Record<'create' | 'get', Ask>> };
}

type Ask = (options: object) => Promise<Credential | null>;

interface Credential {
  readonly rawId: ArrayBuffer;
  readonly type: string;
  readonly response: Readonly<Record<string, unknown>>;
}

const browser = globalThis as unknown as Browser;

export function hasPasskeys(): boolean {
  return Boolean(browser.PublicKeyCredential && browser.navigator?.credentials);
}

export async function canAutofill(): Promise<boolean> {
  const { PublicKeyCredential } = browser;
  return (await PublicKeyCredential?.isConditionalMediationAvailable?.()) ?? false;
}

/** @throws {AccountsError} if no passkey was made */
export function askToMake(
  options: PasskeyCreationOptions,
  signal?: AbortSignal,
): Promise<MadeCredential> {
  const publicKey = {
    ...options,
    challenge: bytesIn(options.challenge),
    user: { ...options.user, id: bytesIn(options.user.id) },
    excludeCredentials: options.excludeCredentials.map((one) => ({ ...one, id: bytesIn(one.id) })),
  };
  return ask('create', { publicKey, signal });
}

/**
 * @param mediation `conditional`: passkeys are offered among the suggestions of a field
 * @throws {AccountsError} if no passkey was used
 */
export function askToUse(
  options: PasskeyRequestOptions,
  signal?: AbortSignal,
  mediation?: 'conditional',
): Promise<UsedCredential> {
  const publicKey = { ...options, challenge: bytesIn(options.challenge) };
  return ask('get', { publicKey, mediation, signal });
}

function bytesIn(text: string): Uint8Array {
  const binary = atob(text.replace(/-/g, '+').replace(/_/g, '/'));
  return Uint8Array.from(binary, (byte) => byte.charCodeAt(0));
}

const parts = [
  'clientDataJSON',
  'attestationObject',
  'authenticatorData',
  'signature',
  'userHandle',
];

/**
 * The browser's credential as JSON. It is read field by field: the credentials of some browsers and extensions have
 * no `toJSON`, or one that fails.
 */
async function ask<Made>(kind: 'create' | 'get', options: object): Promise<Made> {
  try {
    // It is called as a method, because browsers require that.
    const credential = await browser.navigator?.credentials?.[kind](options);
    const { rawId, type, response } = credential as Credential;
    const id = textOf(rawId);
    const given = parts.flatMap((part) => {
      const bytes = response[part] as ArrayBuffer | null | undefined;
      return bytes ? [[part, textOf(bytes)]] : [];
    });
    return { id, rawId: id, type, response: Object.fromEntries(given) } as Made;
  } catch (cause) {
    throw failureOf(cause);
  }
}

function textOf(buffer: ArrayBuffer): string {
  const binary = Array.from(new Uint8Array(buffer), (byte) => String.fromCharCode(byte)).join('');
  return btoa(binary).replace(/\+/g, '-').replace(/\//g, '_').replace(/=/g, '');
}

function failureOf(cause: unknown): AccountsError {
  const { name, message } = cause as Error;
  const [code, why] = {
    AbortError: ['ABORTED', 'the request was aborted'],
    InvalidStateError: ['PASSKEY_EXISTS', 'this device has a passkey of the account already'],
    NotAllowedError: ['PASSKEY_REFUSED', 'it was declined, or took too long, or there is none'],
  }[name] ?? ['PASSKEY_FAILED', message || name];
  return new AccountsError(code as string, {
    message: `The browser has made or used no passkey: ${why}`,
    cause,
  });
}

/** Passkeys in the browser: making them, logging in by them, and telling the browser which there are. */

import type {
  NewPasskey,
  Passkey,
  PasskeyConfirmation,
  PasskeyLogin,
  PasskeyRequestOptions,
} from '../../client/paths.ts';
import { api, ConsoleError, send, settings } from './api.ts';
import { type Session, sessionOf } from './session.ts';

/** Whether the browser supports passkeys, and the settings allow them on this origin. */
export const canUsePasskeys: boolean =
  (settings.passkeys?.origins ?? []).includes(location.origin) &&
  'PublicKeyCredential' in window &&
  'parseRequestOptionsFromJSON' in PublicKeyCredential;

/** Whether a passkey can sign in: others are of a domain that the setting had before. */
export const isInForce = ({ rp_id }: Pick<Passkey, 'rp_id'>): boolean =>
  rp_id === settings.passkeys?.rpId;

/** Asks the browser for a new passkey of the user who is signed in. */
export const makePasskey = async (body: PasskeyConfirmation): Promise<NewPasskey['credential']> => {
  const options = await send(api.POST('/api/passkeys/options', { body }));
  const given = options as PublicKeyCredentialCreationOptionsJSON;
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(given);
  return asked(navigator.credentials.create({ publicKey }));
};

export const loginOptions = () => send(api.POST('/api/login/passkey-options'));

/**
 * Asks the browser for a passkey of anybody.
 * @param signal ends the attempt; with it the browser offers passkeys in the list of the address field
 */
export const choosePasskey = async (
  options: PasskeyRequestOptions,
  signal?: AbortSignal,
): Promise<PasskeyLogin['credential']> => {
  const given = options as PublicKeyCredentialRequestOptionsJSON;
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(given);
  const inList = signal && ({ mediation: 'conditional', signal } as const);
  return asked(navigator.credentials.get({ publicKey, ...inList }));
};

/** Signs in by a passkey. */
export const logInByPasskey = async (credential: PasskeyLogin['credential']): Promise<Session> =>
  sessionOf(await send(api.POST('/api/login/passkey', { body: { credential } })));

/**
 * Tells the browser which passkeys the user who is signed in has, and under which names, so that it offers no
 * others of this user. It is never told that a passkey is unknown: another service of the domain may know it.
 */
export const tellBrowser = async (): Promise<void> => {
  const own = await findOwn();
  if (!own) return;
  await PublicKeyCredential.signalAllAcceptedCredentials?.(own);
  const { name: displayName, email: name } = (await send(api.GET('/api/profile'))).data;
  const { rpId, userId } = own;
  await PublicKeyCredential.signalCurrentUserDetails?.({ rpId, userId, name, displayName });
};

/** Tells the browser that an account was deleted. @param own its passkeys, which were found before */
export const tellDeleted = async (own: AllAcceptedCredentialsOptions): Promise<void> => {
  await PublicKeyCredential.signalAllAcceptedCredentials?.({
    ...own,
    allAcceptedCredentialIds: [],
  });
};

/**
 * The passkeys of the user who is signed in, as the browser is told; absent: there were never any. The response says
 * which domain is in force, because this page may be from before a change of it.
 */
export const findOwn = async (): Promise<AllAcceptedCredentialsOptions | undefined> => {
  if (!canUsePasskeys) return undefined;
  const { data, user_handle: userId, rp_id: rpId } = await send(api.GET('/api/passkeys'));
  const inForce = data.filter(({ rp_id }) => rp_id === rpId);
  const allAcceptedCredentialIds = inForce.map((each) => each.credential_id);
  return userId ? { rpId, userId, allAcceptedCredentialIds } : undefined;
};

/**
 * The browser's credential as JSON, read field by field: credentials of password managers may lack a `toJSON`, or
 * have one that fails.
 * @throws {ConsoleError} if the user refuses, or the browser or a password manager cannot
 */
const asked = async <Answer>(answer: Promise<Credential | null>): Promise<Answer> => {
  try {
    const { rawId, type, response } = (await answer) as unknown as Answered;
    const id = base64url(rawId);
    const given = parts.flatMap((part) => {
      const bytes = response[part];
      return bytes ? [[part, base64url(bytes)]] : [];
    });
    return { id, rawId: id, type, response: Object.fromEntries(given) } as Answer;
  } catch (error) {
    const { name, message } = error as Error;
    if (name === 'InvalidStateError') {
      throw new ConsoleError('This device has a passkey of the account already.');
    }
    const isRefused = name === 'NotAllowedError';
    const why = isRefused ? 'it was declined, or took too long, or there is none' : message;
    throw new ConsoleError(`The browser has made or used no passkey: ${why || name}.`);
  }
};

/** The parts of a response to either request. */
const parts = [
  'clientDataJSON',
  'attestationObject',
  'authenticatorData',
  'signature',
  'userHandle',
] as const;

interface Answered extends Pick<PublicKeyCredential, 'rawId' | 'type'> {
  readonly response: Readonly<Partial<Record<(typeof parts)[number], ArrayBuffer | null>>>;
}

const base64url = (buffer: ArrayBuffer): string => {
  const characters = Array.from(new Uint8Array(buffer), (byte) => String.fromCharCode(byte));
  return btoa(characters.join('')).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
};

/** Passkeys in the browser: making them, logging in by them, and forgetting removed ones. */
import { api, Failure, send, settings } from './api.ts';
import type {
  NewPasskey,
  PasskeyConfirmation,
  PasskeyLogin,
  PasskeyRequestOptions,
} from './contract.d.ts';
import { type Session, sessionOf } from './session.ts';

/** Whether the browser supports passkeys, and the settings allow them on this origin. */
export const canUsePasskeys: boolean =
  (settings.passkeys ?? []).includes(location.origin) &&
  'PublicKeyCredential' in window &&
  'parseRequestOptionsFromJSON' in PublicKeyCredential;

/** Asks the browser for a new passkey of the user who is signed in. */
export const makePasskey = async (body: PasskeyConfirmation): Promise<NewPasskey['credential']> => {
  const options = await send(api.POST('/api/passkeys/options', { body }));
  const given = options as PublicKeyCredentialCreationOptionsJSON;
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(given);
  return answerOf(await asked(navigator.credentials.create({ publicKey })));
};

export const loginOptions = () => send(api.POST('/api/login/passkey-options'));

/**
 * Signs in by a passkey.
 * @param signal ends the attempt; with it the browser offers passkeys in the list of the address field
 */
export const logInByPasskey = async (
  options: PasskeyRequestOptions,
  signal?: AbortSignal,
): Promise<Session> => {
  const given = options as PublicKeyCredentialRequestOptionsJSON;
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(given);
  const inList = signal && ({ mediation: 'conditional', signal } as const);
  const used = await asked(navigator.credentials.get({ publicKey, ...inList }));
  const credential: PasskeyLogin['credential'] = answerOf(used);
  try {
    return sessionOf(await send(api.POST('/api/login/passkey', { body: { credential } })));
  } catch (error) {
    if (error instanceof Failure && error.code === 'PASSKEY_UNKNOWN') {
      forget({ rpId: options.rpId, credentialId: credential.id });
    }
    throw error;
  }
};

/** Tells the browser which passkeys the user has, so that it stops offering removed ones. */
export const tellBrowser = async (): Promise<void> => {
  if (!canUsePasskeys) return;
  const { data, user_handle: userId, rp_id: rpId } = await send(api.GET('/api/passkeys'));
  if (!userId || !('signalAllAcceptedCredentials' in PublicKeyCredential)) return;
  const allAcceptedCredentialIds = data.map(({ credential_id }) => credential_id);
  await PublicKeyCredential.signalAllAcceptedCredentials({
    rpId,
    userId,
    allAcceptedCredentialIds,
  });
};

const forget = (unknown: UnknownCredentialOptions): void => {
  if (!('signalUnknownCredential' in PublicKeyCredential)) return;
  PublicKeyCredential.signalUnknownCredential(unknown).catch(() => undefined);
};

/** The browser's credential. @throws {Failure} if the user refuses, or the browser cannot */
const asked = async (answer: Promise<Credential | null>): Promise<PublicKeyCredential> => {
  try {
    return (await answer) as PublicKeyCredential;
  } catch (error) {
    if ((error as Error).name === 'InvalidStateError') {
      throw new Failure('This device has a passkey of the account already.');
    }
    throw new Failure('The browser has made or used no passkey.');
  }
};

const answerOf = <Answer>(credential: PublicKeyCredential): Answer =>
  credential.toJSON() as unknown as Answer;

import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Credentials } from '../../../client/paths.ts';
import { api, ConsoleError, send, sendUnless, settings } from '../api.ts';
import { Button } from '../components/button.tsx';
import { AddressField, Form, PasswordField } from '../components/form.tsx';
import { FailureNotice, tell } from '../components/notice.tsx';
import { Brand } from '../components/screen.tsx';
import { CodeField } from '../components/second-factor.tsx';
import { failureOf, useAction } from '../loading.ts';
import {
  canUsePasskeys,
  choosePasskey,
  logInByPasskey,
  loginOptions,
  tellBrowser,
} from '../passkeys.ts';
import { go } from '../router.ts';
import { beginSession, type Session, sessionOf, signedIn } from '../session.ts';

const wrong = ['INVALID_CREDENTIALS', 'USER_NOT_REGISTERED'];

/** @returns undefined when the service asks for a code */
const logIn = async (body: Credentials): Promise<Session | undefined> => {
  try {
    const tokens = await sendUnless('LOGIN_CODE_REQUIRED', api.POST('/api/login', { body }));
    return tokens && sessionOf(tokens);
  } catch (error) {
    const isWrong = error instanceof ConsoleError && wrong.includes(error.code);
    throw isWrong ? new ConsoleError('The address or the password is wrong.', error.status) : error;
  }
};

/** Ends the session of a token, where sessions can be ended before their token. */
export const logOut = async (session: Session): Promise<void> => {
  if (settings.sessions) await send(api.POST('/api/logout', as(session)));
};

/** The options of a request with the token of a session that has not begun, or is over. */
const as = ({ token }: Session) => ({ headers: { Authorization: `Bearer ${token}` } });

/** Whether a user is an admin or an auditor as stored: a session without a second factor may have neither role. */
const mayEnter = async (session: Session): Promise<boolean> => {
  if (session.role === 'admin' || !settings.sessions) return session.role === 'admin';
  const { role, auditor } = (await send(api.GET('/api/profile', as(session)))).data;
  return role === 'admin' || auditor === true;
};

/**
 * Begins the session of a user who may use the console, and ends the session of any other user. Users who
 * must set up a second factor are led to its form.
 */
const admit = async (session: Session, { isByPasskey = false } = {}): Promise<void> => {
  if (!(await mayEnter(session))) {
    await logOut(session).catch(() => undefined);
    const need = settings.sessions ? 'neither an admin nor an auditor' : 'not an admin';
    throw new ConsoleError(`${session.email} is ${need}.`, 403);
  }
  const isRequired = settings.secondFactor === 'admins' && !isByPasskey;
  const factor = isRequired && (await send(api.GET('/api/second-factor', as(session))));
  beginSession(session);
  // The session has begun, whether or not the browser can be told.
  tellBrowser().catch(() => undefined);
  if (factor && !factor.enabled) go('/account');
};

const admitByPasskey = (session: Session) => admit(session, { isByPasskey: true });

/** Milliseconds after which the browser gets new options: the service takes them for five minutes. */
const optionsTime = 4 * 60_000;

/** Signs in by a passkey: by a button, or by the list of the address field. */
const ByPasskey = () => {
  const [round, setRound] = useState(0);
  const again = () => setRound((count) => count + 1);
  const listed = useRef<AbortController>(undefined);
  const [failure, setFailure] = useState<ConsoleError>();
  /** Nobody has asked for this offer, so that it fails without a word, and is not made again at once. */
  const chosenInList = async (signal: AbortSignal) => {
    try {
      if (!(await PublicKeyCredential.isConditionalMediationAvailable?.())) return undefined;
      return await choosePasskey(await loginOptions(), signal);
    } catch {
      return undefined;
    }
  };
  const offer = async (signal: AbortSignal) => {
    const chosen = await chosenInList(signal);
    if (!chosen) return;
    try {
      await admitByPasskey(await logInByPasskey(chosen));
    } catch (error) {
      if (signal.aborted) return;
      const found = failureOf(error);
      setFailure(found);
      if (found.status > 0) again();
    }
  };
  useEffect(() => {
    const controller = new AbortController();
    listed.current = controller;
    const timer = setTimeout(again, optionsTime);
    void offer(controller.signal);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [round]);
  const asked = useAction(async () => {
    setFailure(undefined);
    tell('');
    // Browsers allow one request for a passkey at a time.
    listed.current?.abort();
    await loginOptions()
      .then((options) => choosePasskey(options))
      .then(logInByPasskey)
      .then(admitByPasskey)
      .finally(again);
  });
  return (
    <>
      <Button onClick={() => asked.run()} aria-busy={asked.isBusy}>
        Use a passkey
      </Button>
      <FailureNotice what="You are not signed in" failure={asked.failure ?? failure} />
    </>
  );
};

/** The form to sign in. It covers everything while nobody is signed in. */
export const SignIn = () => {
  const { session: before, notice } = signedIn.use();
  const [asksCode, setAsksCode] = useState(false);
  const card = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    document.title = `Sign in · ${settings.product} console`;
    const inputs = [...(card.current?.querySelectorAll('input') ?? [])];
    inputs.find(({ value }) => value === '')?.focus();
  }, [asksCode]);
  const signIn = async (credentials: Credentials) => {
    const session = await logIn(credentials);
    return session ? admit(session) : setAsksCode(true);
  };
  return (
    <main class="sign-in">
      <div class="card stack" ref={card}>
        <Brand />
        <h1>Sign in</h1>
        {notice && (
          <p class="notice" role="status">
            {notice}
          </p>
        )}
        <Form act={signIn} failed="You are not signed in" submit="Sign in" isQuery>
          <AddressField
            defaultValue={before?.email}
            autoComplete={canUsePasskeys ? 'username webauthn' : 'username'}
          />
          <PasswordField label="Password" name="password" autoComplete="current-password" />
          {asksCode && <CodeField />}
        </Form>
        {canUsePasskeys && <ByPasskey />}
      </div>
    </main>
  );
};

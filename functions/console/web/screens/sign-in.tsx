import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Credentials } from '../../../client/paths.ts';
import { api, ConsoleError, send, settings } from '../api.ts';
import { Button } from '../components/button.tsx';
import { AddressField, CodeField, Form, PasswordField } from '../components/form.tsx';
import { FailureNotice, tell } from '../components/notice.tsx';
import { Brand } from '../components/screen.tsx';
import { useAction } from '../loading.ts';
import { canUsePasskeys, ownPasskeys } from '../passkeys.ts';
import { go } from '../router.ts';
import { accounts, enter, signedIn } from '../session.ts';

const wrong = ['INVALID_CREDENTIALS', 'USER_NOT_REGISTERED'];

/** @returns false when the service asks for a code */
const logIn = async (body: Credentials): Promise<boolean> => {
  try {
    await send(api.POST('/api/login', { body }));
    return true;
  } catch (error) {
    if (!(error instanceof ConsoleError)) throw error;
    if (error.code === 'LOGIN_CODE_REQUIRED') return false;
    if (!wrong.includes(error.code)) throw error;
    throw new ConsoleError('The address or the password is wrong.', error.status);
  }
};

/**
 * Whether the logged-in user is stored as an admin or an auditor: a session without a second factor may have
 * neither role.
 */
const mayEnter = async (): Promise<boolean> => {
  if (accounts.user?.role === 'admin' || !settings.sessions) return accounts.user?.role === 'admin';
  const { role, auditor } = (await send(api.GET('/api/profile'))).data;
  return role === 'admin' || auditor === true;
};

/** @throws {ConsoleError} if the user may not use the console */
const requireEntry = async (): Promise<void> => {
  if (await mayEnter()) return;
  const need = settings.sessions ? 'neither an admin nor an auditor' : 'not an admin';
  throw new ConsoleError(`${accounts.user?.email} is ${need}.`, 403);
};

/**
 * Lets in a user who has logged in and may use the console, and ends the session of any other user. Users who must
 * set up a second factor are led to its form.
 */
const admit = async ({ isByPasskey = false } = {}): Promise<void> => {
  try {
    await requireEntry();
    const isRequired = settings.secondFactor === 'admins' && !isByPasskey;
    const factor = isRequired && (await send(api.GET('/api/second-factor')));
    enter();
    if (factor && !factor.enabled) go('/account');
  } catch (error) {
    await accounts.logOut();
    throw error;
  }
};

/** Signs in by a passkey. With `autofill` the browser offers it in the list of the address field. */
const signInByPasskey = async (options?: {
  readonly autofill: boolean;
  readonly signal: AbortSignal;
}): Promise<void> => {
  await send((await ownPasskeys()).logInByPasskey(options));
  await admit({ isByPasskey: true });
};

/** Signs in by a passkey: by a button, or by the list of the address field. */
const ByPasskey = () => {
  const [round, setRound] = useState(0);
  const again = () => setRound((count) => count + 1);
  const [failure, setFailure] = useState<ConsoleError>();
  useEffect(() => {
    const offer = new AbortController();
    signInByPasskey({ autofill: true, signal: offer.signal }).catch((error) => {
      // The user has not asked for this offer: if it is aborted, or its code cannot be loaded, no error is shown.
      if (!(error instanceof ConsoleError) || error.code === 'ABORTED') return;
      setFailure(error);
      if (error.status > 0) again();
    });
    return () => offer.abort();
  }, [round]);
  const asked = useAction(async () => {
    setFailure(undefined);
    tell('');
    await signInByPasskey().finally(again);
  });
  return (
    <>
      <Button class="quiet" onClick={() => asked.run()} aria-busy={asked.isBusy}>
        Use a passkey
      </Button>
      <FailureNotice what="You are not signed in" failure={asked.failure ?? failure} />
    </>
  );
};

/** The form to sign in. It covers the whole page while nobody is signed in. */
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
    if (!(await logIn(credentials))) return setAsksCode(true);
    await admit();
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

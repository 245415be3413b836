import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { api, Failure, send, settings } from '../api.ts';
import { AddressField, Form, PasswordField } from '../components/form.tsx';
import { Brand } from '../components/screen.tsx';
import { CodeField } from '../components/second-factor.tsx';
import type { Credentials } from '../contract.d.ts';
import { go } from '../router.ts';
import { beginSession, type Session, sessionOf, signedIn } from '../session.ts';

const wrong = ['INVALID_CREDENTIALS', 'USER_NOT_REGISTERED'];

/** @returns undefined when the service asks for a code */
const logIn = async (body: Credentials): Promise<Session | undefined> => {
  try {
    return sessionOf(await send(api.POST('/api/login', { body })));
  } catch (error) {
    if (error instanceof Failure && error.code === 'LOGIN_CODE_REQUIRED') return undefined;
    const isWrong = error instanceof Failure && wrong.includes(error.code);
    throw isWrong ? new Failure('The address or the password is wrong.', error.status) : error;
  }
};

/** Ends the session of a token, where sessions can be ended before their token. */
export const logOut = async ({ token }: Session): Promise<void> => {
  if (!settings.sessions) return;
  const headers = { Authorization: `Bearer ${token}` };
  await send(api.POST('/api/logout', { headers }));
};

/** Whether somebody may use the console. */
const mayEnter = async ({ role, token }: Session): Promise<boolean> => {
  if (role === 'admin' || !settings.sessions) return role === 'admin';
  const headers = { Authorization: `Bearer ${token}` };
  return (await send(api.GET('/api/profile', { headers }))).data.auditor === true;
};

/** Begins a session. Whoever must have a second factor, and has none, is led to its form. */
const enter = async (session: Session): Promise<void> => {
  const headers = { Authorization: `Bearer ${session.token}` };
  const isRequired = settings.secondFactor === 'admins';
  const factor = isRequired && (await send(api.GET('/api/second-factor', { headers })));
  beginSession(session);
  if (factor && !factor.enabled) go('/account');
};

/** The form to sign in. It lies before everything while nobody is signed in. */
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
    if (!session) return setAsksCode(true);
    if (await mayEnter(session)) return enter(session);
    await logOut(session).catch(() => undefined);
    const need = settings.sessions ? 'neither an admin nor an auditor' : 'not an admin';
    throw new Failure(`${session.email} is ${need}.`, 403);
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
        <Form act={signIn} failed="You are not signed in" submit="Sign in">
          <AddressField defaultValue={before?.email} autoComplete="username" />
          <PasswordField label="Password" name="password" autoComplete="current-password" />
          {asksCode && <CodeField />}
        </Form>
      </div>
    </main>
  );
};

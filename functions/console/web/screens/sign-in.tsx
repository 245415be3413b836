import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { api, Failure, send, settings } from '../api.ts';
import { Field, Form, PasswordField } from '../components/form.tsx';
import { Notice } from '../components/notice.tsx';
import { CodeField } from '../components/second-factor.tsx';
import type { Credentials } from '../contract.d.ts';
import { useAction } from '../loading.ts';
import { go } from '../router.ts';
import { beginSession, type Session, sessionOf, signedIn } from '../session.ts';

const wrong = ['INVALID_CREDENTIALS', 'USER_NOT_REGISTERED'];

/** @returns undefined when the service asks for a code */
const logIn = async (body: Credentials): Promise<Session | undefined> => {
  try {
    return sessionOf((await send(api.POST('/api/login', { body }))).token);
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

/** Begins a session. An admin who must have a second factor, and has none, is led to its form. */
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
  const [email, setEmail] = useState(before?.email ?? '');
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const [asksCode, setAsksCode] = useState(false);
  const form = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    document.title = 'Sign in · Accounts console';
    const inputs = [...(form.current?.querySelectorAll('input') ?? [])];
    inputs.find(({ value }) => value === '')?.focus();
  }, [asksCode]);
  const action = useAction(async () => {
    const session = await logIn({ email, password, ...(asksCode ? { code } : {}) });
    if (!session) return setAsksCode(true);
    setPassword('');
    setCode('');
    if (session.role === 'admin') return enter(session);
    await logOut(session).catch(() => undefined);
    throw new Failure(`${session.email} is no admin. The console is for admins.`, 403);
  });
  return (
    <main class="sign-in">
      <div class="card" ref={form}>
        <p class="brand">Accounts</p>
        <h1>Sign in</h1>
        {notice && <Notice kind="info">{notice}</Notice>}
        <Form action={action} failed="You are not signed in" submit="Sign in">
          <Field
            label="Email address"
            value={email}
            onValue={setEmail}
            input={{ type: 'email', name: 'email', autoComplete: 'username', required: true }}
          />
          <PasswordField
            label="Password"
            value={password}
            onValue={setPassword}
            autoComplete="current-password"
            input={{ name: 'password' }}
          />
          {asksCode && (
            <CodeField value={code} onValue={setCode} fault={action.failure?.faults.code} />
          )}
        </Form>
      </div>
    </main>
  );
};

import { useEffect, useRef, useState } from 'preact/hooks';
import { api, Failure, send, settings } from '../api.ts';
import { Field, Form, PasswordField } from '../components/form.tsx';
import { Notice } from '../components/notice.tsx';
import { CodeField } from '../components/second-factor.tsx';
import type { Credentials } from '../contract.d.ts';
import { useAction } from '../loading.ts';
import { beginSession, type Session, sessionOf, signedIn } from '../session.ts';

const wrong = ['INVALID_CREDENTIALS', 'USER_NOT_REGISTERED'];

const logIn = async (body: Credentials): Promise<Session> => {
  try {
    return sessionOf((await send(api.POST('/api/login', { body }))).token);
  } catch (error) {
    const isWrong = error instanceof Failure && wrong.includes(error.code);
    throw isWrong ? new Failure('The address or the password is wrong.', error.status) : error;
  }
};

/** Ends the session of a token, where sessions can be ended before their token. */
export const logOut = async ({ token }: Session): Promise<void> => {
  if (settings.sessions === 'stateless') return;
  const headers = { Authorization: `Bearer ${token}` };
  await send(api.POST('/api/logout', { headers }));
};

/** The form to sign in. It lies before everything while nobody is signed in. */
export const SignIn = () => {
  const { session: before, notice } = signedIn.use();
  const [email, setEmail] = useState(before?.email ?? '');
  const [password, setPassword] = useState('');
  const [code, setCode] = useState<string>();
  const form = useRef<HTMLDivElement>(null);
  const asksCode = code !== undefined;
  useEffect(() => {
    document.title = 'Sign in · Accounts console';
    const inputs = [...(form.current?.querySelectorAll('input') ?? [])];
    inputs.find(({ value }) => value === '')?.focus();
  }, [asksCode]);
  const action = useAction(async () => {
    const session = await logIn({ email, password, ...(code ? { code } : {}) }).catch((error) => {
      if (!(error instanceof Failure && error.code === 'LOGIN_CODE_REQUIRED')) throw error;
      setCode('');
      throw new Failure('Type a code of your authenticator app, or a recovery code.', 401);
    });
    setPassword('');
    setCode(undefined);
    if (session.role === 'admin') return beginSession(session);
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
          {code !== undefined && <CodeField value={code} onValue={setCode} />}
        </Form>
      </div>
    </main>
  );
};

/** The calls of the client of apps, in Node, with services of several settings. */
import { expect, it, onTestFinished } from 'vitest';
import { type Accounts, createClient } from '../../functions/client/index.ts';
import { serviceForThisFile } from '../support/acceptance.ts';
import { makeUser, uniqueEmail } from '../support/client.ts';
import { everySetting } from '../support/every-setting.ts';
import { identityServiceForThisFile, identitySettings, startIssuer } from '../support/issuer.ts';
import { startLoopback } from '../support/loopback.ts';
import { mailingServiceForThisFile } from '../support/mailbox.ts';
import { codeOf } from '../support/second-factor.ts';
import { startTestService } from '../support/service.ts';
import { mailedToken, newAccount, verificationSettings } from '../support/verification.ts';

const issuer = await startIssuer();
const full = await identityServiceForThisFile(issuer, {
  ...everySetting,
  ...identitySettings(issuer),
});
const plain = await serviceForThisFile();
const sessions = await serviceForThisFile({ SESSION_DAYS: '90' });
const verifying = await mailingServiceForThisFile(verificationSettings.required);

/** A client of a user who has just registered. */
const registered = async (url: string) => {
  const accounts = createClient({ url });
  const account = newAccount();
  const { data } = await accounts.register(account);
  return { accounts, account, id: data?.user?.id ?? 0 };
};

/** What a listener is told from now on. */
const toldBy = (accounts: Accounts) => {
  const told: unknown[] = [];
  accounts.onChange((user, reason) => told.push([user?.email ?? null, reason]));
  return told;
};

/** A service that gives one response, or none. */
const respondingWith = async (status: number, headers: Record<string, string>, body: string) => {
  const { url, stop } = await startLoopback((_, __, response) => {
    if (status) response.writeHead(status, headers).end(body);
    else response.destroy();
  });
  onTestFinished(stop);
  return createClient({ url });
};

it.each([
  ['the default settings', plain],
  ['every setting', full],
])(
  'Under %s a user registers, logs out and in, reads the profile and changes the name',
  async (_, { url }) => {
    const accounts = createClient({ url });
    const { email, password, name } = newAccount();
    await accounts.ready;
    const told = toldBy(accounts);

    const registration = await accounts.register({ name, email, password });
    const out = await accounts.logOut();
    const login = await accounts.logIn({ email, password });
    const profile = await accounts.getProfile();
    const changed = await accounts.updateUser({ name: 'Ada L.' });

    expect(registration.data).toEqual({
      user: { id: expect.any(Number), email, role: 'user' },
      message: 'User registered successfully',
    });
    expect(out).toEqual({ data: undefined, error: null });
    expect(login.data).toEqual({ user: accounts.user, message: 'Login successful' });
    expect(profile.data).toMatchObject({ name, email });
    expect(changed.data).toMatchObject({ name: 'Ada L.' });
    expect(told).toEqual([
      [null, 'read'],
      [email, 'loggedIn'],
      [null, 'loggedOut'],
      [email, 'loggedIn'],
    ]);
  },
);

it('A registration says that nobody is signed in where the address must be verified first', async () => {
  const accounts = createClient(verifying);
  const account = newAccount();

  const { data } = await accounts.register(account);
  const early = await accounts.logIn(account);
  const token = await mailedToken(verifying, account.email);
  const verified = await accounts.verifyEmail({ token, password: account.password });
  const login = await accounts.logIn(account);

  expect([data?.user, early.error?.code]).toEqual([null, 'EMAIL_NOT_VERIFIED']);
  expect([verified.error, login.data?.user.email]).toEqual([null, account.email]);
});

it('A login asks for the code of a second factor, and says for how long a user must wait', async () => {
  const { email, password } = await makeUser(full.api, full.adminToken);
  const accounts = createClient(full);
  await accounts.logIn({ email, password });
  const body = { currentPassword: password };
  const begun = await accounts.api.POST('/api/second-factor', { body });
  const secret = begun.data?.secret ?? '';
  await accounts.api.PUT('/api/second-factor', { body: { code: codeOf(secret) } });

  const asked = await accounts.logIn({ email, password });
  const wrong = await accounts.logIn({ email, password, code: 'wrong' });
  const code = codeOf(secret, { ahead: 1 });
  const login = await accounts.logIn({ email, password, code });
  let late = await accounts.logIn({ email, password: 'wrong' });
  while (late.error?.code === 'INVALID_CREDENTIALS') {
    late = await accounts.logIn({ email, password: 'wrong' });
  }

  expect([asked.error?.code, wrong.error?.code]).toEqual([
    'LOGIN_CODE_REQUIRED',
    'LOGIN_CODE_WRONG',
  ]);
  expect(login.data?.user.email).toBe(email);
  expect(late.error).toMatchObject({ code: 'TOO_MANY_ATTEMPTS', isTemporary: true });
  expect(late.error?.retryAfter).toBeGreaterThan(0);
});

it('A registration and a change with a taken address fail with an error', async () => {
  const { accounts, account } = await registered(plain.url);
  const { email } = newAccount();
  await createClient(plain).register({ ...account, email });

  const registration = await accounts.register({ ...account, email });
  const change = await accounts.updateUser({ email });

  const codes = [registration.error?.code, change.error?.code];
  expect(codes).toEqual(Array(2).fill('EMAIL_REGISTERED'));
});

it('A call of an option that the service has turned off fails with HTTP_404', async () => {
  const accounts = createClient(plain);

  const link = await accounts.requestPasswordReset({ email: uniqueEmail() });
  const identity = await accounts.logInByIdentity({ askIssuer: async () => 'x' });

  expect([link.error?.code, identity.error?.code]).toEqual(Array(2).fill('HTTP_404'));
});

it('A user who forgot the password sets another one by a mailed link', async () => {
  const { email } = await makeUser(full.api, full.adminToken);
  const accounts = createClient(full);

  const asked = await accounts.requestPasswordReset({ email });
  const token = await mailedToken(full, email);
  const set = await accounts.resetPassword({ token, password: 'another password' });
  const again = await accounts.resetPassword({ token, password: 'another password' });

  expect(asked.data).toEqual({ message: expect.stringContaining('mail is on its way') });
  expect([set.error, again.error?.code]).toEqual([null, 'RESET_TOKEN_INVALID']);
  expect((await accounts.logIn({ email, password: 'another password' })).error).toBeNull();
});

it('A new address of the user is in the next token, and listeners learn it', async () => {
  const { accounts, account } = await registered(sessions.url);
  const told = toldBy(accounts);
  const email = uniqueEmail();

  const changed = await accounts.updateUser({ email, currentPassword: account.password });

  expect(changed.data).toMatchObject({ email });
  expect(accounts.user?.email).toBe(email);
  expect(told).toEqual([
    [account.email, 'read'],
    [email, 'changed'],
  ]);
});

it('A new address that waits for its link is in the token once the link is used', async () => {
  const { accounts, account } = await registered(full.url);
  const told = toldBy(accounts);
  const email = uniqueEmail();

  await accounts.updateUser({ email, currentPassword: account.password });
  const token = await mailedToken(full, email);
  const verified = await accounts.verifyEmail({ token, password: account.password });

  expect([verified.error, accounts.user?.email]).toEqual([null, email]);
  expect(told.slice(1)).toEqual([[email, 'changed']]);
});

it('An admin who enables the second factor that admins need has the role at once', async () => {
  const strict = await startTestService({ SESSION_DAYS: '90', SECOND_FACTOR: 'admins' });
  onTestFinished(() => strict.stop());
  const accounts = createClient(strict);
  const login = await accounts.logIn(strict.admin);
  const told = toldBy(accounts);

  const body = { currentPassword: strict.admin.password };
  const begun = await accounts.api.POST('/api/second-factor', { body });
  const code = codeOf(begun.data?.secret ?? '');
  await accounts.api.PUT('/api/second-factor', { body: { code } });

  expect([login.data?.user.role, accounts.user?.role]).toEqual(['user', 'admin']);
  expect(told.map((each) => (each as string[])[1])).toEqual(['read', 'changed']);
});

it('A user lists the sessions, ends one of them, and ends all others', async () => {
  const { accounts, account } = await registered(sessions.url);
  const others = [createClient(sessions), createClient(sessions), createClient(sessions)];
  for (const other of others) await other.logIn(account);

  const listed = await accounts.listSessions();
  const [other] = listed.data?.filter(({ current }) => !current) ?? [];
  const ended = await accounts.endSession(other?.id ?? '');
  const left = await accounts.listSessions();
  await accounts.endOtherSessions();

  expect([listed.data?.length, ended.error, left.data?.length]).toEqual([4, null, 3]);
  expect((await accounts.listSessions()).data).toMatchObject([{ current: true }]);
});

it('A login by an identity sends the same proof again with a code', async () => {
  const { accounts } = { accounts: createClient(full) };
  const asked: string[] = [];
  const askIssuer = async (nonce: string) => {
    asked.push(nonce);
    return issuer.issue({ sub: 'ada', email: 'ada@example.org', email_verified: true, nonce });
  };

  const first = await accounts.logInByIdentity({ askIssuer });
  const { api } = accounts;
  const begun = await api.POST('/api/second-factor', { body: await full.proofOf({ sub: 'ada' }) });
  const secret = begun.data?.secret ?? '';
  await api.PUT('/api/second-factor', { body: { code: codeOf(secret) } });
  await accounts.logOut();
  const refused = await accounts.logInByIdentity({ askIssuer });
  const code = codeOf(secret, { ahead: 1 });
  const second = await accounts.logInByIdentity({ askIssuer, code });

  expect(first.data?.message).toBe('User registered successfully');
  expect(refused.error?.code).toBe('LOGIN_CODE_REQUIRED');
  expect(second.data).toEqual({ message: 'Login successful', user: accounts.user });
  expect(asked).toHaveLength(2);
});

it('A failure at the issuer is an error with the message of the issuer', async () => {
  const askIssuer = () => Promise.reject(new Error('The window was closed'));

  const { error } = await createClient(full).logInByIdentity({ askIssuer });

  expect(error).toMatchObject({ code: 'ISSUER_FAILED', message: 'The window was closed' });
});

it('A user who deletes the account is signed out', async () => {
  const { accounts, account } = await registered(full.url);
  const told = toldBy(accounts);
  const body = { currentPassword: account.password };

  const deleted = await accounts.api.POST('/api/account-deletions', { body });

  expect(deleted).toMatchObject({ error: null, response: { status: 204 } });
  expect(told.at(-1)).toEqual([null, 'loggedOut']);
});

it('All other operations are called by their paths, with parameters, and return the response', async () => {
  const admin = createClient(full);
  await admin.logIn(full.admin);
  const { id, name } = await makeUser(full.api, full.adminToken);

  const found = await admin.api.GET('/api/users/{id}', { params: { path: { id } } });
  const query = { limit: 1, order: 'desc', role: undefined } as const;
  const listed = await admin.api.GET('/api/users', { params: { query } });
  const headers = { Accept: 'text/csv' };
  const entries = await admin.api.GET('/api/admin/audit-logs', { headers });

  expect(found.data).toMatchObject({ id, name });
  expect(listed.data).toHaveLength(1);
  expect(listed.response?.headers.get('Link')).toContain('rel="next"');
  expect(entries.data).toMatch(/^id,user_id,action/);
});

it('An error has the code, the status and the message of the service, and what is wrong by field', async () => {
  const { error } = await createClient(full).register({ name: '', email: 'x', password: 'p' });

  expect(error).toMatchObject({
    code: 'FIELDS_REQUIRED',
    status: 400,
    message: 'All fields are required',
    fields: { name: 'name is required', email: expect.stringMatching(/^email must/) },
    retryAfter: undefined,
    isTemporary: false,
  });
});

it.each([
  [429, {}, '{"message":"Too Many Requests"}', 'HTTP_429', 'Too Many Requests', 10],
  [
    429,
    { 'Error-Code': 'TOO_MANY_ATTEMPTS', 'Retry-After': '30' },
    '{}',
    'TOO_MANY_ATTEMPTS',
    'The service responded with 429',
    30,
  ],
  [502, {}, '<html>', 'HTTP_502', 'The service responded with 502', 10],
  [
    500,
    { 'Error-Code': 'STORAGE_FAULT' },
    '{"message":"Error"}',
    'STORAGE_FAULT',
    'Error',
    undefined,
  ],
  [0, {}, '', 'NO_RESPONSE', 'No response came from the service', undefined],
])(
  'A response %i with the headers %j is temporary',
  async (status, headers, body, code, message, retryAfter) => {
    const accounts = await respondingWith(status, headers as Record<string, string>, body);

    const { data, error } = await accounts.logIn({ email: 'e', password: 'p' });

    expect(data).toBeNull();
    expect(error).toMatchObject({ code, status, message, retryAfter, isTemporary: true });
  },
);

it.each([
  ['null'],
  ['{"code":1015,"message":{"text":"busy"},"title":["busy"]}'],
  ['{"errors":"busy"}'],
  ['{"errors":{"name":["busy"]}}'],
  ['{"errors":[null,{"status":"503"},{"pointer":7}]}'],
])('The JSON %s of a gateway that responds with 503 is an error of the call', async (body) => {
  const accounts = await respondingWith(503, { 'Content-Type': 'application/json' }, body);

  const { error } = await accounts.getProfile();

  const message = 'The service responded with 503';
  expect(error).toMatchObject({ code: 'HTTP_503', status: 503, message, fields: {} });
});

it.each(['text/csv', 'application/x-ndjson'])(
  'A body of the type %s is returned as text, as for exports of the audit trail',
  async (type) => {
    const admin = createClient(plain);
    await admin.logIn(plain.admin);

    const headers = { Accept: type };
    const { data, error } = await admin.api.GET('/api/admin/audit-logs', { headers });

    expect(error).toBeNull();
    expect(data).toEqual(expect.stringContaining('LOGIN'));
  },
);

it('A call does not succeed with a page that some other server responds with', async () => {
  const page = { 'Content-Type': 'text/html; charset=utf-8' };
  const accounts = await respondingWith(200, page, '<!doctype html>');
  const error = { code: 'HTTP_200', status: 200, message: expect.stringContaining('is a page') };

  const login = await accounts.logIn({ email: 'ada@example.com', password: 'wrong' });

  expect(login).toMatchObject({ data: null, error });
  expect(await accounts.getProfile()).toMatchObject({ data: null, error });
  expect(accounts.user).toBeNull();
});

it('A successful response that is cut off counts as no response', async () => {
  const json = { 'content-type': 'application/json' };
  const accounts = await respondingWith(200, json, '{"token":');

  expect((await accounts.getProfile()).error?.code).toBe('NO_RESPONSE');
});

it('The error of a call that its caller aborts says so, and is not temporary', async () => {
  const { url, stop } = await startLoopback(() => undefined);
  onTestFinished(stop);
  const control = new AbortController();

  const call = createClient({ url }).getProfile({ signal: control.signal });
  control.abort();

  expect((await call).error).toMatchObject({ code: 'ABORTED', isTemporary: false });
});

it('Only a mistake of the programmer throws', async () => {
  expect(() => createClient({ url: 'accounts.example.com' })).toThrow(TypeError);
  await expect(createClient(plain).setSession({ token: 'x' })).rejects.toThrow(TypeError);
});

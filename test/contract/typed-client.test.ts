/** The typed client of functions/CLIENTS.md, as it stands there. */
import { execFile, execFileSync } from 'node:child_process';
import { createPrivateKey } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { makeUser, register, uniqueEmail } from '../support/client.ts';
import { everySetting } from '../support/every-setting.ts';
import { folderForThisFile } from '../support/folder.ts';
import { mailingServiceForThisFile } from '../support/mailbox.ts';
import { codeOf, enrol } from '../support/second-factor.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { snippets } from '../support/snippets.ts';
import { throttlingGatewayForThisFile } from '../support/throttling.ts';
import { outlived, signToken, signTokenWithKey } from '../support/tokens.ts';
import { mailedToken, newAccount, verify } from '../support/verification.ts';

/** Ignored by git. */
const folder = resolve('.contract/client');
const failures = 2;
const service = await startTestService({ LOGIN_FAILURES_PER_ACCOUNT: String(failures) });
afterAll(() => service.stop());
const strictFolder = folderForThisFile();
const strict = await mailingServiceForThisFile({
  ...everySetting,
  EMAIL_VERIFICATION: 'required',
  DATA_DIR: strictFolder,
});

const gateway = await throttlingGatewayForThisFile(strict);
const { throttled } = gateway;

const stored = new Map<string, string>();
vi.stubGlobal('localStorage', {
  getItem: (key: string) => stored.get(key) ?? null,
  setItem: (key: string, value: string) => stored.set(key, value),
});
afterAll(() => vi.unstubAllGlobals());
beforeEach(() => stored.clear());

const read = (path: string) => readFileSync(path, 'utf8');

/** Installs what the client needs, once for each version of it. */
const installPackages = () => {
  const lockfile = join(folder, 'package-lock.json');
  const wanted = 'test/contract/client/package-lock.json';
  const hasInstalled = existsSync(join(folder, 'node_modules/.package-lock.json'));
  if (hasInstalled && read(lockfile) === read(wanted)) return;
  mkdirSync(folder, { recursive: true });
  for (const name of ['package.json', 'package-lock.json']) {
    copyFileSync(`test/contract/client/${name}`, join(folder, name));
  }
  execFileSync('npm', ['ci', '--ignore-scripts'], { cwd: folder, stdio: 'inherit' });
};

/**
 * Runs a program of the client's packages. It does not block this process, which would then not see
 * that the service closes an idle connection, and would use it again.
 * @returns what the program prints, or why it failed
 */
const run = (program: string, ...args: string[]) =>
  new Promise<string>((done) => {
    const path = join(folder, 'node_modules/.bin', program);
    execFile(path, args, { cwd: folder }, (error, stdout) =>
      done(stdout || (error?.message ?? '')),
    );
  });

interface Client {
  register(user: object): Promise<Record<string, string>>;
  logIn(
    email: string,
    password: string,
    code?: string,
  ): Promise<{ text: string; asksCode: boolean } | undefined>;
  profile(): Promise<{ id: number; email: string } | undefined>;
  update(id: number, changes: object): Promise<{ name: string } | string | undefined>;
  save(tokens: object): void;
}

/** Writes the client for a service, without types. @returns its file */
const writeClient = (name: string, url: string): string => {
  const text = snippets('ts').join('\n');
  const file = join(folder, name, 'client.ts');
  mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(file, text.replace('http://localhost:3000', url));
  return file;
};

/** Writes the types of a service's document beside its client. */
const writeTypes = async (name: string, { api }: Pick<TestService, 'api'>) => {
  const document = join(folder, name, 'openapi.json');
  writeFileSync(document, (await api('GET', '/openapi.json')).text);
  await run('openapi-typescript', document, '--output', join(folder, name, 'api.d.ts'));
};

/** The services, by the names of their clients' folders. */
const services = [
  ['default', service],
  ['strict', strict],
] as const;

let client: Client;
let strictClient: Client;
let clientBehindGateway: Client;
beforeAll(async () => {
  installPackages();
  const clientOf = (name: string, url: string): Promise<Client> =>
    import(/* @vite-ignore */ writeClient(name, url));
  client = await clientOf('default', service.url);
  strictClient = await clientOf('strict', strict.url);
  clientBehindGateway = await clientOf('throttled', gateway.url);
});

const kept = () => JSON.parse(stored.get('tokens') ?? '{}');

const signByDefault = (claims: object, header: object) =>
  signToken(claims, service.jwtSecret, header);
const signStrictly = (claims: object, header: object) => {
  const key = createPrivateKey(read(join(strictFolder, 'token-key-first')));
  return signTokenWithKey(claims, key, header);
};

const newUser = () => ({ name: 'n', email: uniqueEmail(), password: 'p' });

describe('The typed client of functions/CLIENTS.md', () => {
  it('has no fault of types, by default and under the strictest settings', async () => {
    const strictly = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess'];
    const modules = ['--target', 'es2022', '--lib', 'es2022,dom', '--module', 'nodenext'];
    const only = ['--noEmit', '--allowImportingTsExtensions', '--skipLibCheck', 'false'];

    await Promise.all(services.map(([name, each]) => writeTypes(name, each)));
    const files = services.map(([name]) => join(name, 'client.ts'));
    const faults = await run('tsc', ...strictly, ...modules, ...only, ...files);

    expect(faults).toBe('');
  });

  it('knows that it must log in when a response is 401', async () => {
    expect(await client.profile()).toBeUndefined();
  });

  it('registers, and shows and changes the profile', async () => {
    expect(await client.register(newUser())).toEqual({});

    const { id } = (await client.profile()) ?? {};

    expect(await client.update(Number(id), { name: 'changed' })).toMatchObject({ name: 'changed' });
  });

  it('tells all that is wrong with a form, by field', async () => {
    expect(await client.register({ ...newUser(), name: '', email: 'e' })).toEqual({
      name: 'name is required',
      email: 'email must be a valid email address',
    });
  });

  it('tells that an address is taken', async () => {
    const { email } = await register(service.api);
    await client.register(newUser());
    const { id } = (await client.profile()) ?? {};

    expect(await client.register({ ...newUser(), email })).toEqual({
      email: 'This address is taken.',
    });
    expect(await client.update(Number(id), { email })).toBe('EMAIL_REGISTERED');
  });

  it('logs in, and says how long to wait after too many failures', async () => {
    const { email, password } = await register(service.api);

    expect(await client.logIn(email, password)).toBeUndefined();
    for (let failed = 0; failed < failures; failed += 1) {
      expect(await client.logIn(email, 'wrong')).toMatchObject({
        text: 'The address or the password is wrong.',
      });
    }
    const { text } = (await client.logIn(email, password)) ?? {};
    expect(text).toMatch(/^Try again in \d+ seconds\.$/);
  });

  it.each([
    ['has expired', (token: string) => outlived(token, signByDefault)],
    ['is altered', (token: string) => `${token}x`],
  ])('knows that it must log in again when the token %s', async (_, change) => {
    const account = newUser();
    const { token = '' } = await client.register(account).then(kept);

    client.save({ token: change(token) });

    expect(await client.profile()).toBeUndefined();
    expect(kept()).toEqual({});
    await client.logIn(account.email, account.password);
    expect(await client.profile()).toMatchObject({ email: account.email });
  });

  it('forgets a refresh token from a time when there were sessions', async () => {
    const { token } = await client.register(newUser()).then(kept);

    client.save({ token: outlived(token, signByDefault), refreshToken: 'from before' });

    expect(await client.profile()).toBeUndefined();
    expect(kept()).toEqual({});
  });
});

describe('The typed client of functions/CLIENTS.md, with every setting on,', () => {
  const { email, password, name } = newAccount();
  it('logs in past an address that is not verified and a code, and stays logged in', async () => {
    const { register, logIn, profile, save } = strictClient;

    expect(await register({ name, email, password })).toEqual({});
    expect(await profile()).toBeUndefined();
    expect(await logIn(email, password)).toEqual({
      text: 'Look into your mail, and open the link.',
      asksCode: false,
    });

    await verify(strict.api, await mailedToken(strict, email), password);
    expect(await logIn(email, password)).toBeUndefined();
    const { secret } = await enrol(strict.api, { password, token: kept().token });
    const asked = await logIn(email, password);
    const wrong = await logIn(email, password, 'wrong');
    expect([asked?.asksCode, wrong?.asksCode]).toEqual([true, true]);
    expect(wrong?.text).toMatch(/^The code is wrong/);
    expect(await logIn(email, password, codeOf(secret, { ahead: 1 }))).toBeUndefined();

    const { token, refreshToken } = kept();
    save({ token: `${token}x`, refreshToken });
    const both = await Promise.all([profile(), profile()]);
    expect(both).toMatchObject([{ email }, { email }]);
    expect(kept().refreshToken).not.toBe(refreshToken);

    const { token: next, refreshToken: nextRefreshToken } = kept();
    save({ token: outlived(next, signStrictly), refreshToken: nextRefreshToken });
    expect(await profile()).toMatchObject({ email });
    expect(kept().refreshToken).not.toBe(nextRefreshToken);

    await strict.api('POST', '/api/logout', { token: kept().token });
    expect(await profile()).toBeUndefined();
    expect(kept()).toEqual({});
  });
});

describe('The typed client of functions/CLIENTS.md, when API Gateway throttles its requests,', () => {
  it('says when to try again, and keeps its tokens', async () => {
    const { email, password } = await makeUser(strict.api, strict.adminToken);
    const { register, logIn, profile, update, save } = clientBehindGateway;
    const later = 'Try again in 10 seconds.';
    await logIn(email, password);
    const { token, refreshToken } = kept();
    const { id = 0 } = (await profile()) ?? {};
    onTestFinished(() => throttled.clear());

    for (const path of ['/api/login', '/api/auth/register', '/api/profile', `/api/users/${id}`]) {
      throttled.add(path);
    }
    expect(await logIn(email, password)).toEqual({ text: later, asksCode: false });
    await expect(register(newUser())).rejects.toThrow(later);
    await expect(profile()).rejects.toThrow(later);
    expect(await update(id, { name: 'new' })).toBe('HTTP_429');
    throttled.clear();
    throttled.add('/api/refresh');
    const expired = { token: outlived(token, signStrictly), refreshToken };
    save(expired);
    await expect(profile()).rejects.toThrow(later);
    expect(kept()).toEqual(expired);
    throttled.clear();

    expect(await profile()).toMatchObject({ email });
  });
});

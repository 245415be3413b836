/** The typed client of functions/CLIENTS.md, as it stands there. */
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { register, uniqueEmail } from '../support/client.ts';
import { startTestService } from '../support/service.ts';

/** Ignored by git. */
const folder = resolve('.contract/client');
const failures = 2;
const service = await startTestService({ LOGIN_FAILURES_PER_ACCOUNT: String(failures) });
afterAll(() => service.stop());

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

const run = (program: string, ...args: string[]) =>
  spawnSync(join(folder, 'node_modules/.bin', program), args, { cwd: folder, encoding: 'utf8' });

const writeClient = () => {
  const blocks = [...read('functions/CLIENTS.md').matchAll(/^```ts\n(.*?)^```$/gms)];
  const text = blocks.map(([, block]) => block).join('\n');
  writeFileSync(join(folder, 'client.ts'), text.replace('http://localhost:3000', service.url));
  run('openapi-typescript', resolve('functions/openapi.json'), '--output', 'api.d.ts');
};

interface Client {
  register(user: object): Promise<Record<string, string>>;
  logIn(email: string, password: string): Promise<string | undefined>;
  profile(): Promise<{ id: number } | undefined>;
  update(id: number, changes: object): Promise<{ name: string } | string | undefined>;
  listUsers(): AsyncGenerator<{ id: number }>;
}

let client: Client;
beforeAll(async () => {
  installPackages();
  writeClient();
  client = await import(/* @vite-ignore */ join(folder, 'client.ts'));
});

const newUser = () => ({ name: 'n', email: uniqueEmail(), password: 'p' });

describe('The typed client of functions/CLIENTS.md', () => {
  it('has no fault of types', () => {
    const strict = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess'];
    const modules = ['--target', 'es2022', '--lib', 'es2022,dom', '--module', 'nodenext'];
    const only = ['--noEmit', '--allowImportingTsExtensions', '--skipLibCheck', 'false'];

    const { stdout } = run('tsc', ...strict, ...modules, ...only, 'client.ts');

    expect(stdout).toBe('');
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
      expect(await client.logIn(email, 'wrong')).toBe('The address or the password is wrong.');
    }
    expect(await client.logIn(email, password)).toMatch(/^Try again in \d+ seconds\.$/);
  });

  it('pages through the users', async () => {
    const json = newUser();
    await client.register(json);
    for (let made = 0; made < 100; made += 1) await register(service.api);

    const ids: number[] = [];
    for await (const { id } of client.listUsers()) ids.push(id);

    expect(ids.length).toBeGreaterThan(100);
    expect(new Set(ids).size).toBe(ids.length);
  });
});

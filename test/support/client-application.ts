/** Apps of others, which install the client from its file and have nothing else of this repository. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { modules } from './application.ts';

/** A program that uses a service, prints the results, and is given the address of the service and of a new user. */
const script = `
import { createClient } from 'accounts-client';
import { passkeys } from 'accounts-client/passkeys';
import { sessionCookies } from 'accounts-client/server';
import { verifyToken } from 'accounts-client/verify';

const [url, email] = process.argv.slice(2);
const [password, origin] = ['correct horse', 'https://shop.example.com'];
const accounts = createClient({ url });
const reasons = [];
accounts.onChange((user, reason) => reasons.push(reason));
await accounts.register({ name: 'Ada', email, password });
await accounts.logOut();
const refused = await accounts.logIn({ email, password: 'wrong' });
await accounts.logIn({ email, password });
const profile = await accounts.fetch(url + '/api/profile');
const verified = await verifyToken(await accounts.getToken(), { url });

const sessions = sessionCookies({ url, origin, ...(verified.data && { verify: verifyToken }) });
const body = new URLSearchParams({ email, password });
const login = await sessions.handle(
  new Request(origin + '/login', { method: 'POST', headers: { origin }, body }),
);
const [cookie] = login.headers.getSetCookie();
const headers = { cookie: cookie.split(';')[0] };
const opened = await sessions.open(new Request(origin, { headers }));
console.log(JSON.stringify({
  reasons,
  refused: refused.error.code,
  user: accounts.user.email,
  profile: profile.status,
  verified: verified.data?.email ?? verified.error.code,
  opened: opened.user.email,
  passkeys: typeof passkeys(accounts).addPasskey,
}));
`;

/** Code that the compiler must accept, and lines that it must refuse. */
const typed = `
import { type Answer, createClient, type User } from 'accounts-client';
import { passkeys } from 'accounts-client/passkeys';
import { useUser } from 'accounts-client/react';
import { createTrail, sessionCookies, type TrailEntry } from 'accounts-client/server';
import { verifyToken } from 'accounts-client/verify';

const url = 'https://accounts.example.com';
const accounts = createClient<{ team: string }>({ url, name: undefined, sendTo: [] });

export async function logIn(email: string, password: string): Promise<string> {
  const { error } = await accounts.logIn({ email, password });
  if (!error) return accounts.user?.team ?? '';
  // @ts-expect-error It is read where there is no error.
  error.data;
  if (error.code === 'TOO_MANY_ATTEMPTS') return String(error.retryAfter);
  return error.fields.email ?? error.message;
}

export async function page(request: Request): Promise<Response> {
  const sessions = sessionCookies({ url, origin: 'https://shop.example.com', verify: verifyToken });
  if (request.url.includes('/auth/')) return sessions.handle(request);
  const session = await sessions.open(request);
  if (session.response) return session.response;
  const response = new Response(session.user?.email);
  session.setCookies(response.headers);
  return response;
}

export const verified: Promise<Answer<User<{ team: string }>>> = verifyToken('', { url });
export const user: User | null | undefined = useUser(accounts);
export const added = passkeys(accounts).addPasskey('laptop', { currentPassword: '' });
export const profile = accounts.api.GET('/api/profile');
export const trail = createTrail({
  url,
  key: async () => 'mk_1_key',
  onRefused: (entry: TrailEntry, { code }) => console.error(entry.resourceId, code),
});
trail.record({ action: 'READ', resource: 'shop.orders', result: 'SUCCESS', details: { items: 2 } });
// @ts-expect-error Logins are recorded by the service alone.
trail.record({ action: 'LOGIN', resource: 'shop.orders', result: 'SUCCESS' });
export const flushed: Promise<void> = trail.flush();
sessionCookies({
  url,
  origin: url,
  client: { key: 'mk_2_key', address: ({ headers }) => headers.get('x-real-ip') ?? undefined },
});
// @ts-expect-error There is no such option.
createClient({ url, nmae: 'shop' });
// @ts-expect-error It has no address.
sessionCookies({ origin: url });
`;

/** An app in an empty folder, with the package and jose. @param from the folder of jose */
export function makeClientApplication(folder: string, packed: string, from = modules): void {
  writeFileSync(join(folder, 'app.js'), script);
  writeFileSync(join(folder, 'app.ts'), typed);
  const manifest = { name: 'shop', private: true, type: 'module' };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  const quickly = ['--offline', '--legacy-peer-deps', '--no-audit', '--no-fund', '--silent'];
  execFileSync('npm', ['install', ...quickly, packed], { cwd: folder });
  mkdirSync(join(folder, 'node_modules'), { recursive: true });
  symlinkSync(join(from, 'jose'), join(folder, 'node_modules/jose'));
}

/** The ways in which a compiler finds modules, each with the options that it requires. */
export const resolutions = {
  bundler: { moduleResolution: 'bundler', module: 'esnext' },
  node16: { moduleResolution: 'node16', module: 'node16' },
} as const;

/** The messages of a compiler about the app, with all strict options. @param compiler the folder of TypeScript */
export function compileClientApplication(
  folder: string,
  compiler: string,
  resolution: Readonly<Record<string, string>>,
): string {
  const compilerOptions = {
    ...resolution,
    ...{ target: 'es2022', lib: ['es2022', 'dom'], types: [], noEmit: true },
    ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
  };
  const config = join(folder, 'tsconfig.json');
  writeFileSync(config, JSON.stringify({ compilerOptions, files: ['app.ts'] }));
  try {
    const args = [join(compiler, 'bin/tsc'), '-p', folder];
    return execFileSync(process.execPath, args, { encoding: 'utf8' });
  } catch (error) {
    return String((error as { stdout?: string }).stdout);
  }
}

import { utimesSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import { expect, it } from 'vitest';
import { register } from '../support/client.ts';
import { operatedServiceForThisTest } from '../support/operator.ts';

/** Has a service's clock run six minutes ahead, once more at every SIGUSR2. */
const adjustableClock = `
  const now = Date.now;
  let ahead = 0;
  Date.now = () => now() + ahead;
  process.on('SIGUSR2', () => { ahead += 360_000; });
`;

it('At 20 requests a second, no token is refused before, during or after a rotation of the key', async () => {
  const preload = `data:text/javascript,${encodeURIComponent(adjustableClock)}`;
  const service = await operatedServiceForThisTest({
    TOKEN_SIGNING: 'RS256',
    NODE_OPTIONS: `--import=${preload}`,
  });
  const { api, folder } = service;
  const account = await register(api);
  let tokens: string[] = [account.token];
  const unexpected: string[] = [];
  const kidOf = (token: string) => decodeProtectedHeader(token).kid;
  const use = async (token: string) => {
    const { status, text } = await api('GET', '/api/profile', { token });
    if (status !== 200) unexpected.push(`profile ${status} ${text}`);
  };
  const logIn = async () => {
    const { status, text, body } = await api('POST', '/api/login', { json: account });
    if (status !== 200) return unexpected.push(`login ${status} ${text}`);
    tokens.push(body.token);
    // As others verify it, who have just read the keys.
    const keys = createLocalJWKSet((await api('GET', '/.well-known/jwks.json')).body);
    await jwtVerify(body.token, keys).catch(({ code }) => unexpected.push(`elsewhere ${code}`));
    return use(body.token);
  };
  /** Three seconds of traffic. @returns whose keys the tokens are that are issued meanwhile */
  const issuers = async () => {
    const before = tokens.length;
    const requests: Promise<unknown>[] = [];
    for (let sent = 0; sent < 60; sent += 1) {
      requests.push(sent % 4 === 0 ? logIn() : use(tokens[sent % tokens.length] ?? ''));
      await sleep(50);
    }
    await Promise.all(requests);
    return [...new Set(tokens.slice(before).map(kidOf))];
  };
  const rotate = async (...options: readonly string[]) =>
    expect((await service.operate(['rotate-signing-key', ...options])).status).toBe(0);
  const minutesPass = () => service.process?.kill('SIGUSR2');

  const [first] = await issuers();
  await rotate();
  expect(await issuers()).toEqual([first]);
  minutesPass();
  expect(await issuers()).toEqual([first]);
  utimesSync(join(folder, 'token-key-next'), 0, 0);
  const underWay = issuers();
  await rotate('--sign');
  expect(await underWay).toEqual([first]);
  minutesPass();
  await issuers();
  const [second, ...others] = await issuers();
  expect([second === first, others]).toEqual([false, []]);

  // From here on the tokens of the first key have expired.
  tokens = tokens.filter((token) => kidOf(token) === second);
  utimesSync(join(folder, 'token-key-current'), 0, 0);
  await rotate('--retire');
  expect(await issuers()).toEqual([second]);
  minutesPass();
  expect(await issuers()).toEqual([second]);
  expect(unexpected).toEqual([]);
  expect((await api('GET', '/api/profile', { token: account.token })).status).toBe(401);
});

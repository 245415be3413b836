/**
 * `npm run bench -- login-timing`: whether the time of a refused login tells a known address, or one that was
 * imported with a hash of a lower cost, from an unknown one while LOGIN_ANSWERS is uniform, what
 * each asks of the engine, and for how long the event loop is held up while 20 logins hash at once;
 * and whether the time of a registration, or of a change of one's own address, tells a taken address
 * from a free one, where EMAIL_VERIFICATION is required besides.
 * On dynoxide, in memory; SAMPLES (400) of each kind at BCRYPT_COST (10) and IMPORTED_COST (6). A
 * lower cost and more samples show what the hash's own variation hides.
 */
import { randomUUID } from 'node:crypto';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { decodeJwt } from 'jose';
import { createTables } from '../../infra/local/create-tables.ts';
import { type Engine, startEngine } from '../../infra/local/engine.ts';
import { type ApiAnswer, type ApiClient, apiClient } from '../support/client.ts';
import { gatewayEvent } from '../support/event.ts';
import { type EngineProxy, startProxy } from '../support/proxy.ts';
import { startServiceProcess } from '../support/service-process.ts';
import { mannWhitney, summarise } from './login/statistics.ts';

const samples = Number(process.env.SAMPLES ?? 400);
const warmUp = 30;
const simultaneous = 20;

const tables = { users: 'accounts-users', audit: 'accounts-audit' };
const known = { name: 'Known', email: 'known@example.org', password: randomUUID() };
const imported = { name: 'Imported', email: 'imported@example.org', password: randomUUID() };
const importedCost = process.env.IMPORTED_COST ?? '6';
const settings = {
  DATA_DIR: 'memory',
  JWT_SECRET: randomUUID() + randomUUID(),
  LOGIN_ANSWERS: 'uniform',
  LOGIN_FAILURES_PER_ACCOUNT: '0',
  LOGIN_FAILURES_PER_ADDRESS: '0',
  BCRYPT_COST: process.env.BCRYPT_COST ?? '10',
  USERS_TABLE: tables.users,
  AUDIT_TABLE: tables.audit,
};

/** The settings with which a registration reveals nothing. */
const verified = {
  EMAIL_VERIFICATION: 'required',
  VERIFY_URL: 'http://localhost/verify',
  RESET_URL: 'http://localhost/reset',
  MAIL_FROM: 'accounts@example.com',
};

const emails = {
  unknown: () => `${randomUUID().slice(0, 5)}@example.org`,
  known: () => known.email,
  imported: () => imported.email,
};
type Kind = keyof typeof emails;
const kinds: readonly Kind[] = ['unknown', 'known', 'imported'];

const shuffledKinds = (): readonly Kind[] =>
  kinds
    .map((kind) => ({ kind, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ kind }) => kind);

const failToLogIn = async (api: ApiClient, kind: Kind): Promise<number> => {
  const json = { email: emails[kind](), password: `wrong-${randomUUID()}` };
  const begun = performance.now();
  const { status, body } = await api('POST', '/api/login', { json });
  const took = performance.now() - begun;
  if (status !== 401) throw new Error(`Login answered ${status} ${JSON.stringify(body)}`);
  return took;
};

/** Times of refused logins, one after the other, in a random order. */
const measure = async (api: ApiClient): Promise<Record<Kind, number[]>> => {
  const times: Record<Kind, number[]> = { unknown: [], known: [], imported: [] };
  for (let i = 0; i < warmUp + samples; i += 1) {
    for (const kind of shuffledKinds()) {
      const took = await failToLogIn(api, kind);
      if (i >= warmUp) times[kind].push(took);
    }
  }
  return times;
};

const withService = async <T>(
  engine: string,
  use: (api: ApiClient) => Promise<T>,
  changes: Readonly<Record<string, string>> = {},
): Promise<T> => {
  const environment = { ...settings, ...changes, AWS_ENDPOINT_URL_DYNAMODB: engine };
  const service = await startServiceProcess(environment);
  try {
    return await use(apiClient(service.url));
  } finally {
    await service.stop();
  }
};

const printComparison = (kind: Kind, times: Record<Kind, number[]>): void => {
  const { u, z, p, auc } = mannWhitney(times.unknown, times[kind]);
  const ratio = summarise(times[kind]).p50 / summarise(times.unknown).p50;
  console.log(
    `${kind} against unknown: ratio of medians ${ratio.toFixed(4)}; Mann-Whitney of ${samples} ` +
      `each: U ${u}, z ${z.toFixed(2)}, p ${p.toFixed(3)}, AUC ${auc.toFixed(3)} (0.5: nothing ` +
      `can be told)`,
  );
};

const printTimes = (times: Record<Kind, number[]>): void => {
  console.log(
    `\nms       ${'p5 p25 p50 p75 p95 mean'
      .split(' ')
      .map((name) => name.padStart(8))
      .join('')}`,
  );
  for (const kind of kinds) {
    const cells = Object.values(summarise(times[kind])).map((ms) => ms.toFixed(2).padStart(8));
    console.log(kind.padEnd(9) + cells.join(''));
  }
  for (const kind of ['known', 'imported'] as const) printComparison(kind, times);
};

const takenOrFree = ['free', 'taken'] as const;
type Address = (typeof takenOrFree)[number];

/** Milliseconds after a request in which its mail is sent. */
const pause = 30;

/** Sends a request that names an address. */
type Send = (email: string) => Promise<ApiAnswer>;

const take = async (send: Send, address: Address): Promise<number> => {
  const email = address === 'taken' ? known.email : emails.unknown();
  const begun = performance.now();
  const { status } = await send(email);
  const took = performance.now() - begun;
  if (status >= 300) throw new Error(`A request with an address answered ${status}`);
  await sleep(pause);
  return took;
};

/** Times of requests, one after the other, with addresses of either kind in a random order. */
const measureAddresses = async (send: Send): Promise<Record<Address, number[]>> => {
  const times: Record<Address, number[]> = { free: [], taken: [] };
  for (let i = 0; i < warmUp + samples; i += 1) {
    const order = Math.random() < 0.5 ? takenOrFree : takenOrFree.toReversed();
    for (const address of order) {
      const took = await take(send, address);
      if (i >= warmUp) times[address].push(took);
    }
  }
  return times;
};

const printAddresses = (what: string, times: Record<Address, number[]>): void => {
  const { p, auc } = mannWhitney(times.free, times.taken);
  const [free, taken] = [summarise(times.free), summarise(times.taken)];
  console.log(
    `${what}: medians ${free.p50.toFixed(2)} ms (free), ${taken.p50.toFixed(2)} ms (taken); ` +
      `Mann-Whitney of ${samples} each: p ${p.toFixed(3)}, AUC ${auc.toFixed(3)}`,
  );
};

const requestsOf = async (proxy: EngineProxy, api: ApiClient, kind: Kind): Promise<string> => {
  proxy.forget();
  await failToLogIn(api, kind);
  return proxy.requests.map(({ operation }) => operation).join(', ');
};

const printRequests = async (engine: Engine): Promise<void> => {
  const proxy = await startProxy(engine.endpoint);
  await withService(proxy.url, async (api) => {
    for (const kind of kinds) {
      console.log(`${kind}: ${await requestsOf(proxy, api, kind)}`);
    }
  });
  await proxy.stop();
};

/** In this process, because only a process itself can watch its event loop. */
const printDelay = async (engine: Engine): Promise<void> => {
  Object.assign(process.env, {
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_ENDPOINT_URL_DYNAMODB: engine.endpoint,
    ...settings,
  });
  const { handler } = await import('../../functions/auth/login.ts');
  const body = JSON.stringify({ email: known.email, password: 'wrong' });
  const headers = { 'content-type': 'application/json' };
  const event = () => gatewayEvent({ path: '/api/login', headers, body });
  await handler(event(), {});

  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const begun = performance.now();
  await Promise.all(Array.from({ length: simultaneous }, () => handler(event(), {})));
  const took = performance.now() - begun;
  delay.disable();
  const milliseconds = [delay.max, delay.percentile(99), delay.mean].map((ns) =>
    (ns / 1e6).toFixed(1),
  );
  console.log(
    `${simultaneous} logins at once took ${took.toFixed(0)} ms; the event loop was late by ` +
      `${milliseconds[0]} ms at most, ${milliseconds[1]} at p99, ${milliseconds[2]} in the mean`,
  );
};

const engine = await startEngine({ only: 'dynoxide' });
try {
  process.env.AWS_REGION = 'us-east-1';
  Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'local', AWS_SECRET_ACCESS_KEY: 'local' });
  await createTables(engine.endpoint, tables);
  console.log(
    `Refused logins, LOGIN_ANSWERS=uniform, BCRYPT_COST=${settings.BCRYPT_COST}, imported at ${importedCost}`,
  );
  const { token } = await withService(
    engine.endpoint,
    async (api) => (await api('POST', '/api/auth/register', { json: imported })).body,
    { BCRYPT_COST: importedCost },
  );
  const times = await withService(engine.endpoint, async (api) => {
    await api('POST', '/api/auth/register', { json: known });
    return measure(api);
  });
  printTimes(times);
  const measureBoth = async (api: ApiClient) => {
    const register: Send = (email) =>
      api('POST', '/api/auth/register', { json: { ...known, email } });
    printAddresses('Registrations', await measureAddresses(register));
    const path = `/api/users/${decodeJwt(token).id}`;
    const change: Send = (email) => api('PUT', path, { token, json: { email } });
    printAddresses('Changes of one’s own address', await measureAddresses(change));
  };
  await withService(engine.endpoint, measureBoth, verified);
  await printRequests(engine);
  await printDelay(engine);
} finally {
  await engine.stop();
}

/**
 * `npm run bench -- login-timing`: whether the time of a refused login tells a known address, or one that was
 * imported with a hash of a lower cost, from an unknown one while ACCOUNTS is private; and
 * whether the time of a registration, or of a change of one's own address, tells a taken address from
 * a free one, where EMAIL_VERIFICATION is required besides.
 * On dynoxide, in memory; SAMPLES (400) of each kind at BCRYPT_COST (10) and IMPORTED_COST (6). A
 * lower cost and more samples show what the hash's own variation hides.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { decodeJwt } from 'jose';
import { createTables } from '../../infra/local/create-tables.ts';
import { startEngine } from '../../infra/local/engine.ts';
import { type ApiAnswer, type ApiClient, apiClient } from '../support/client.ts';
import { startServiceProcess } from '../support/service-process.ts';
import { mannWhitney, median, row } from './statistics.ts';

const samples = Number(process.env.SAMPLES ?? 400);
const warmUp = 30;
/** Milliseconds after a request in which its mail is sent. */
const pause = 30;

const tables = { users: 'accounts-users', audit: 'accounts-audit' };
const newEmail = () => `${randomUUID().slice(0, 5)}@example.org`;
const known = { name: 'Known', email: 'known@example.org', password: randomUUID() };
const imported = { name: 'Imported', email: 'imported@example.org', password: randomUUID() };
const JWT_SECRET = randomUUID() + randomUUID();
const BCRYPT_COST = process.env.BCRYPT_COST ?? '10';
const importedCost = process.env.IMPORTED_COST ?? '6';

const engine = await startEngine({ only: 'dynoxide' });

const withService = async <T>(
  settings: Readonly<Record<string, string>>,
  use: (api: ApiClient) => Promise<T>,
): Promise<T> => {
  const service = await startServiceProcess({
    DATA_DIR: 'memory',
    ACCOUNTS: 'private',
    LOGIN_FAILURES_PER_ACCOUNT: '0',
    LOGIN_FAILURES_PER_ADDRESS: '0',
    BCRYPT_COST,
    JWT_SECRET,
    USERS_TABLE: tables.users,
    AUDIT_TABLE: tables.audit,
    AWS_ENDPOINT_URL_DYNAMODB: engine.endpoint,
    ...settings,
  });
  try {
    return await use(apiClient(service.url));
  } finally {
    await service.stop();
  }
};
const shuffled = <T>(all: readonly T[]): readonly T[] =>
  all
    .map((one) => ({ one, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ one }) => one);

type Kinds = Readonly<Record<string, () => Promise<ApiAnswer>>>;

/** Milliseconds until the answer. */
const timeOf = async (send: () => Promise<ApiAnswer>, status: number): Promise<number> => {
  const begun = performance.now();
  const answer = await send();
  const took = performance.now() - begun;
  if (answer.status !== status) throw new Error(`${answer.status} ${answer.text}`);
  await sleep(pause);
  return took;
};

/**
 * Sends requests of each kind one after the other, in a random order, and compares the times of the
 * first kind with those of the others.
 */
const compare = async (name: string, status: number, kinds: Kinds): Promise<void> => {
  const all = Object.entries(kinds).map(([kind, send]) => ({ kind, send, times: [] as number[] }));
  for (let i = 0; i < warmUp + samples; i += 1) {
    for (const { send, times } of shuffled(all)) times.push(await timeOf(send, status));
  }
  const [first = [], ...others] = all.map(({ times }) => times.slice(warmUp));
  for (const [i, times] of [first, ...others].entries()) {
    const { auc, z } = mannWhitney(first, times);
    console.log(row([`${name}, ${all[i]?.kind}`, median(times), auc.toFixed(3), z]));
  }
};

const refuse = (api: ApiClient, email: string) =>
  api('POST', '/api/login', { json: { email, password: `wrong-${randomUUID()}` } });

try {
  Object.assign(process.env, { AWS_REGION: 'us-east-1' });
  Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'local', AWS_SECRET_ACCESS_KEY: 'local' });
  await createTables(engine.endpoint, tables);
  const register = (api: ApiClient, user: object) =>
    api('POST', '/api/auth/register', { json: user });
  const { token } = await withService(
    { BCRYPT_COST: importedCost },
    async (api) => (await register(api, imported)).body,
  );
  console.log(`${samples} of each; BCRYPT_COST=${BCRYPT_COST}, imported at ${importedCost}`);
  console.log('AUC 0.5: nothing can be told; z: standard deviations from it\n');
  console.log(row(['', 'median, ms', 'AUC', 'z']));
  await withService({}, async (api) => {
    await register(api, known);
    await compare('refused login', 401, {
      unknown: () => refuse(api, newEmail()),
      known: () => refuse(api, known.email),
      imported: () => refuse(api, imported.email),
    });
  });
  const verified = {
    EMAIL_VERIFICATION: 'required',
    VERIFY_URL: 'http://localhost/verify',
    RESET_URL: 'http://localhost/reset',
    MAIL_FROM: 'accounts@example.com',
  };
  await withService(verified, async (api) => {
    const path = `/api/users/${decodeJwt(token).id}`;
    const move = (email: string) => api('PUT', path, { token, json: { email } });
    await compare('registration', 201, {
      free: () => register(api, { ...known, email: newEmail() }),
      taken: () => register(api, known),
    });
    await compare('own change of address', 200, {
      free: () => move(newEmail()),
      taken: () => move(known.email),
    });
  });
} finally {
  await engine.stop();
}

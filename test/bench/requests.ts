/**
 * Compares the cost of requests with the least that they could do: `npm run bench -- requests`. The functions are
 * bundled as they are deployed, and the bare calls in the same way; all run in one process, on one engine (ENGINE),
 * ROUNDS (3000) times each. `npm run bench -- requests profile` measures only requests with that name. Elapsed time
 * includes the engine; processor time is the time of this process alone.
 */
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { arch, cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { startEngine } from '../../infra/local/engine.ts';
import { bundle } from '../../infra/stack/bundling/bundle.ts';
import { functions } from '../../infra/uses.ts';
import type { Handler } from '../../lib/http/request.ts';
import { chosenEngine } from '../support/engine.ts';
import { gatewayEvent } from '../support/event.ts';
import { claimsWith, signToken } from '../support/tokens.ts';
import { writeBatches } from '../support/write-batches.ts';
import { bundlesIn } from './cold/bundle.ts';
import { type Deployment, deploy } from './cold/deployment.ts';
import type * as bareCalls from './requests/bare-calls.ts';
import { median, row } from './statistics.ts';

const [, , only = ''] = process.argv;
const rounds = Number(process.env.ROUNDS ?? 3000);
/** A login, or a list of all users, takes as long as a hundred other requests. */
const slowRounds = Math.ceil(rounds / 20);

/** The user whose entries are queried; they fill more than a page. */
const auditedUser = 7;
const entries = 1000;
const page = 100;

/** The number of users who are listed, all in one response. */
const listed = 3000;

const person = { name: 'Some One', email: 'some@example.org', password: 'a password' };

const comparisons = {
  empty: 'test/bench/cold/comparisons/empty.ts',
  bare: 'test/bench/requests/bare-calls.ts',
};

const measured = functions.filter(({ name }) =>
  [
    'users-create',
    'users-list',
    'profile-get',
    'audit-logs-list',
    'auth-login',
    'auth-refresh',
  ].includes(name),
);

/** Bundles the measured functions and loads them; functions read their settings when they are loaded. */
const load = (folder: string, { environmentOf }: Deployment) => {
  // Storage is not at fault here if the machine stalls for a second.
  Object.assign(process.env, ...measured.map(environmentOf));
  globalThis.patience = 10;
  const entries = [
    ...measured.map(({ name, entry }) => [name, entry]),
    ...Object.entries(comparisons),
  ];
  const sources = entries.map(([name = '', entry = '']) => ({ name, entry }));
  const require = createRequire(import.meta.url);
  const modules = new Map(
    bundlesIn(folder, sources, bundle(sources, folder)).map(({ name, file }) => [
      name,
      require(file),
    ]),
  );
  const invoke =
    (name: string, status: number) =>
    async (event: APIGatewayProxyEventV2): Promise<string | undefined> => {
      const { handler }: { handler: Handler } = modules.get(name);
      const answer = await handler(event, {});
      if (answer.statusCode !== status) {
        throw new Error(`${name} answered ${answer.statusCode} ${answer.body}`);
      }
      return answer.body;
    };
  /** The same with some settings, which functions read from their environment on each call. */
  const invokeWith =
    (settings: Readonly<Record<string, string>>) => (name: string, status: number) => {
      const call = invoke(name, status);
      return async (event: APIGatewayProxyEventV2): Promise<string | undefined> => {
        Object.assign(process.env, settings);
        try {
          return await call(event);
        } finally {
          for (const setting of Object.keys(settings)) delete process.env[setting];
        }
      };
    };
  return { invoke, invokeWith, bare: modules.get('bare') as typeof bareCalls };
};

const fill = async (endpoint: string): Promise<void> => {
  // Imported only now, because these modules read the environment.
  const { makeEntry } = await import('../../lib/audit/entry.ts');
  const { toItem } = await import('../../lib/audit/record.ts');
  const { userItem } = await import('../../lib/users/store.ts');
  const items = Array.from({ length: entries }, (_, i) => {
    const action = {
      user_id: auditedUser,
      action: 'UPDATE',
      resource: 'users',
      resource_id: i,
      ip_address: '192.0.2.1',
      user_agent: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
      result: 'SUCCESS',
      details: { fields: ['name', 'email'] },
    } as const;
    const entry = makeEntry(action, { now: new Date(Date.now() - i) });
    return toItem(entry, { writeId: crypto.randomUUID() });
  });
  await writeBatches(endpoint, process.env.AUDIT_TABLE ?? '', items);
  const users = Array.from({ length: listed }, (_, i) =>
    userItem({
      id: 1000 + i,
      name: person.name,
      email: `${i}@example.org`,
      role: 'user',
      created_at: new Date(i).toISOString(),
      version: '',
      password_hash: '',
    }),
  );
  await writeBatches(endpoint, process.env.USERS_TABLE ?? '', users);
};

/** A request, and the least that it could do; both are measured in turn. */
interface Pair {
  readonly name: string;
  readonly event: APIGatewayProxyEventV2;
  readonly request: (event: APIGatewayProxyEventV2) => Promise<unknown>;
  readonly bare: (event: APIGatewayProxyEventV2) => Promise<unknown>;
  readonly rounds: number;
  /** The most that the request may cost, as a multiple of the bare call. */
  readonly target?: number;
}

const makePairs = async (
  { invoke, invokeWith, bare }: ReturnType<typeof load>,
  { token }: Deployment,
): Promise<Pair[]> => {
  const { USERS_TABLE: users = '', AUDIT_TABLE: audit = '' } = process.env;
  const get = (path: string, fields: object = {}) =>
    gatewayEvent({ method: 'GET', path, token, ...fields });
  const profile = get('/api/profile');
  const auditLogs = get('/api/admin/audit-logs');
  const login = gatewayEvent({ path: '/api/login', json: person });
  const invokeWithSessions = invokeWith({ SESSION_DAYS: '90' });
  const hash = await bare.hash(person.password, 10);
  const tokensOf = (body = '{}'): { token: string; refreshToken: string } => JSON.parse(body);
  const session = tokensOf(await invokeWithSessions('auth-login', 200)(structuredClone(login)));
  let { refreshToken } = session;
  const refresh = async () => {
    const event = gatewayEvent({ path: '/api/refresh', json: { refreshToken } });
    ({ refreshToken } = tokensOf(await invokeWithSessions('auth-refresh', 200)(event)));
  };
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const byKey = invokeWith({
    TOKEN_SIGNING: 'RS256',
    TOKEN_SIGNING_KEY: String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
    API_URL: 'https://api.example.com',
  });
  const { token: tokenByKey } = tokensOf(await byKey('auth-login', 200)(structuredClone(login)));
  const query = () => bare.query(audit, auditedUser, page);
  return [
    {
      name: 'GET profile / GetItem',
      target: 1.2,
      rounds,
      event: profile,
      request: invoke('profile-get', 200),
      bare: () => bare.getItem(users, 'user#1'),
    },
    {
      name: 'GET profile, RS256 / HS256',
      target: 1.3,
      rounds,
      event: get('/api/profile', { token: tokenByKey }),
      request: byKey('profile-get', 200),
      bare: () => invoke('profile-get', 200)(structuredClone(profile)),
    },
    {
      name: 'GET profile, with sessions / BatchGetItem',
      rounds,
      event: get('/api/profile', { token: session.token }),
      request: invokeWithSessions('profile-get', 200),
      bare: () => bare.batchGetItem(users, ['user#1', 'sessions#1']),
    },
    {
      // The new token has the role of the stored user, so that a refresh has to read the user.
      name: 'refresh / UpdateItem',
      target: 1.5,
      rounds,
      event: login,
      request: refresh,
      bare: () => bare.updateItem(users, 'sessions#bare'),
    },
    {
      name: 'audit query of a user / Query',
      target: 0.9,
      rounds: rounds / 2,
      event: get('/api/admin/audit-logs', { query: { userId: String(auditedUser) } }),
      request: invoke('audit-logs-list', 200),
      bare: query,
    },
    {
      // The function sends eight requests, one for each shard; the bare call sends one.
      name: 'audit query of all / Query',
      rounds: rounds / 2,
      event: auditLogs,
      request: invoke('audit-logs-list', 200),
      bare: query,
    },
    {
      name: `list of ${listed} users / Query`,
      target: 1.5,
      rounds: slowRounds,
      event: get('/api/users'),
      request: invoke('users-list', 200),
      bare: () => bare.listUsers(users),
    },
    {
      // Login protection and audit need four more calls, which alone may exceed the target.
      name: 'login / bcrypt compare',
      target: 1.06,
      rounds: slowRounds,
      event: login,
      request: invoke('auth-login', 200),
      bare: () => bare.compare(person.password, hash),
    },
    {
      name: 'refused: a forged token / empty handler',
      rounds,
      event: get('/api/profile', { token: signToken(claimsWith({}), 'another secret') }),
      request: invoke('profile-get', 401),
      bare: invoke('empty', 204),
    },
  ];
};

/** Microseconds: until the response, and of processor time, which other processes affect less. */
type Cost = readonly [elapsed: number, processor: number];

const costOf = async (call: () => Promise<unknown>): Promise<Cost> => {
  const before = process.cpuUsage();
  const begun = performance.now();
  await call();
  const elapsed = (performance.now() - begun) * 1000;
  const { user, system } = process.cpuUsage(before);
  return [elapsed, user + system];
};

/** Rounds that only warm up, as a fraction of the rounds that count. */
const warmUp = 0.2;

/**
 * Calls both sides in turn, each of them first in every second round, so that other work of the machine affects both
 * equally. @returns their costs, round by round
 */
const measure = async ({ event, request, bare, rounds }: Pair): Promise<[Cost[], Cost[]]> => {
  const costs: [Cost[], Cost[]] = [[], []];
  const sides = [request, bare].map((call, side) => ({ call, kept: costs[side] ?? [] }));
  for (let round = -Math.ceil(rounds * warmUp); round < rounds; round += 1) {
    for (const { call, kept } of round % 2 === 0 ? sides : sides.toReversed()) {
      // A function changes the event that it is given.
      const given = structuredClone(event);
      const cost = await costOf(() => call(given));
      if (round >= 0) kept.push(cost);
    }
  }
  return costs;
};

const print = ({ name, target }: Pair, [own, bare]: readonly [Cost[], Cost[]]): void => {
  const medians = ([0, 1] as const).map((kind) => [
    median(own.map((cost) => cost[kind])),
    median(bare.map((cost) => cost[kind])),
    median(own.map((cost, round) => cost[kind] / Number(bare[round]?.[kind]))),
  ]);
  const isMet = Number(medians[0]?.[2]) <= Number(target);
  const judged = target === undefined ? [] : [target, isMet ? 'met' : 'MISSED'];
  console.log(row([name, ...medians.flat(), ...judged]));
};

const folder = mkdtempSync(join(tmpdir(), 'bench-requests-'));
const engine = await startEngine({ only: chosenEngine() });
const deployment = await deploy(engine.endpoint);
try {
  const loaded = load(folder, deployment);
  const { token } = deployment;
  await loaded.invoke(
    'users-create',
    201,
  )(gatewayEvent({ path: '/api/users', token, json: person }));
  await fill(engine.endpoint);
  console.log(`Node ${process.version}, ${arch()}, ${cpus().length} processors, ${engine.name}`);
  console.log(`Medians of ${rounds} rounds (${slowRounds} of logins and lists), microseconds\n`);
  console.log(row(['', 'elapsed', 'bare', 'ratio', 'processor', 'bare', 'ratio', 'target']));
  const pairs = await makePairs(loaded, deployment);
  for (const pair of pairs.filter(({ name }) => name.includes(only))) {
    print(pair, await measure(pair));
  }
} finally {
  await deployment.stop();
  await engine.stop();
  rmSync(folder, { recursive: true });
}

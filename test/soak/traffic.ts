/** Clients that send requests at random, each of which has exactly one correct response. */
import { randomInt, randomUUID } from 'node:crypto';
import { type ApiClient, uniqueEmail } from '../support/client.ts';
import {
  type ExampleRequest,
  endpoints,
  exampleRequests,
  sendExample,
} from '../support/examples.ts';
import {
  type Accounts,
  agrees,
  type Command,
  idSeen,
  type ModelEntry,
  type ModelUser,
  outcomeOf,
  requestOf,
  seenIn,
} from '../support/model.ts';

/** The findings of all clients, and the accounts and entries that they must have left. */
export interface Findings {
  /** The accounts that exist, as last acknowledged. */
  readonly accounts: Map<number, ModelUser>;
  /** How many audit entries there must be, by {@link entryKey}. */
  readonly entries: Map<string, number>;
  readonly violations: string[];
}

export interface Means {
  readonly api: ApiClient;
  readonly adminToken: string;
  readonly findings: Findings;
}

/** A client's own accounts: no other client changes them, so that the client knows their state. */
interface Client extends Means {
  accounts: Accounts;
  readonly tokens: Map<number, string>;
}

/** The most accounts of a client. */
const maxAccounts = 20;

const pick = <T>(items: readonly T[]): T | undefined => items[randomInt(Math.max(1, items.length))];

/** The key under which an audit entry is counted. */
export const entryKey = ({
  action,
  result,
  resource_id,
}: Pick<ModelEntry, 'action' | 'result' | 'resource_id'>): string =>
  `${action} ${result} ${resource_id ?? 'nobody'}`;

const enter = (
  { accounts, entries }: Findings,
  before: Accounts,
  after: Accounts,
  key?: string,
) => {
  for (const id of before.keys()) if (!after.has(id)) accounts.delete(id);
  for (const [id, user] of after) accounts.set(id, user);
  if (key) entries.set(key, (entries.get(key) ?? 0) + 1);
};

/**
 * Sends a command. A response that differs from the model's is a violation, unless its status is tolerated; then the
 * request has changed nothing.
 */
const perform = async (client: Client, command: Command, ...tolerated: readonly number[]) => {
  const { api, adminToken, findings, tokens } = client;
  const { route, id, json } = requestOf(command);
  const [method = '', path = ''] = route.split(' ');
  const token = command.by === undefined ? adminToken : (tokens.get(command.by) ?? '');
  const options = { token, ...(json ? { json } : {}) };
  const response = await api(method, path.replace('{id}', String(id)), options);
  if (tolerated.includes(response.status)) return;
  const seen = seenIn(response);
  const newId = idSeen(seen);
  const { status, after, entry, ...expected } = outcomeOf(client.accounts, command, newId);
  if (status !== response.status || !agrees(seen, { status, ...expected })) {
    findings.violations.push(`${route}: ${response.status} ${response.text}, not ${status}`);
    return;
  }
  enter(findings, client.accounts, after ?? client.accounts, entry && entryKey(entry));
  client.accounts = after ?? client.accounts;
  if (response.body?.token) tokens.set(newId, response.body.token);
};

const newUser = (email = uniqueEmail()): ModelUser => ({
  name: `Name ${randomInt(1000)}`,
  email,
  password: randomUUID(),
  role: 'user',
});
const own = ({ accounts }: Client) => pick([...accounts]) ?? [];

const remove = async (client: Client) => {
  const [id] = own(client);
  if (id === undefined) return;
  await perform(client, { kind: 'delete', id });
  await perform(client, { kind: 'get', id });
};

const makeRoom = async (client: Client) => {
  if (client.accounts.size >= maxAccounts) await remove(client);
};

const register = async (client: Client) => {
  await makeRoom(client);
  await perform(client, { kind: 'register', user: newUser() });
};

/** All clients request the same address in the same second: only one of them gets it. */
const contest = async (client: Client) => {
  await makeRoom(client);
  const email = `contested-${Math.floor(Date.now() / 1000)}@example.org`;
  await perform(client, { kind: 'register', user: newUser(email) }, 409);
};

const create = async (client: Client) => {
  await makeRoom(client);
  const user = newUser();
  await perform(client, { kind: 'create', user });
  await perform(client, { kind: 'login', email: user.email, password: user.password });
};

const logIn = async (client: Client) => {
  const [, user] = own(client);
  if (!user) return;
  const email = user.email.toUpperCase();
  await perform(client, { kind: 'login', email, password: user.password });
};

const failToLogIn = async (client: Client) => {
  const [, user] = randomInt(2) ? own(client) : [];
  const email = user?.email ?? uniqueEmail();
  // After ten failures in a quarter of an hour the account must wait, which leaves no audit entry.
  await perform(client, { kind: 'login', email, password: 'wrong' }, 429);
};

const readOwn = async (client: Client) => {
  const [id] = own(client);
  if (id === undefined) return;
  await perform(client, randomInt(2) ? { kind: 'profile', by: id } : { kind: 'get', by: id, id });
};

const update = async (client: Client) => {
  const [id] = own(client);
  if (id === undefined) return;
  const { name, email, password } = newUser();
  const changes = pick([{ name }, { email }, { password }, { name, email, password }]) ?? { name };
  await perform(client, { kind: 'update', by: id, id, changes });
};

const expectStatus = ({ violations }: Findings, name: string, status: number, expected: number) => {
  if (status !== expected) violations.push(`${name}: ${status}, not ${expected}`);
};

/** One of a client's accounts, for an example to act on. */
const subjectOf = (client: Client) => {
  const [id = 0, user] = own(client);
  if (!user) return undefined;
  const account = { ...user, id, token: client.tokens.get(id) ?? '' };
  return { account, admin: client.adminToken, memoryId: 0 };
};

/** The service of the examples has its data in memory, and seals nothing; this service seals. */
const whereSealed = ({ definition: { uses }, status }: ExampleRequest): number =>
  uses.has('seal') ? 200 : uses.has('seal.request') ? 202 : status;

const reads = exampleRequests
  .filter(({ definition, entry }) => !definition.uses.has('memory') && !entry)
  .map((example) => ({ ...example, status: whereSealed(example) }));

const read = async (client: Client) => {
  const [subject, example] = [subjectOf(client), pick(reads)];
  if (!subject || !example) return;
  const { status } = await sendExample(client.api, example, subject);
  expectStatus(client.findings, example.name, status, example.status);
};

const notForAnyone = endpoints.filter(({ caller }) => caller !== 'anyone');
const forAdmins = endpoints.filter(({ caller }) => caller === 'admin');

const beRefused = async (client: Client) => {
  const { api, findings } = client;
  const bad = await api('POST', '/api/auth/register', {
    body: '{"name":',
    headers: { 'content-type': 'application/json' },
  });
  expectStatus(findings, 'malformed body', bad.status, 400);
  const [subject, some, admins] = [subjectOf(client), pick(notForAnyone), pick(forAdmins)];
  if (!subject || !some || !admins) return;
  const { token } = subject.account;
  const forged = await sendExample(api, some, subject, { token: `${token}x` });
  expectStatus(findings, `${some.name}, forged token`, forged.status, 401);
  const forbidden = await sendExample(api, admins, subject, { token });
  expectStatus(findings, `${admins.name}, by no admin`, forbidden.status, 403);
};

const inMemory = endpoints.filter(({ definition }) => definition.uses.has('memory'));
const [creation] = inMemory.filter(({ status }) => status === 201);
const others = inMemory.filter((example) => example !== creation);

/** Creates a user of the in-memory variant, and calls every endpoint for the user, deletion last. */
const useMemory = async (client: Client) => {
  const subject = subjectOf(client);
  if (!subject || !creation) return;
  const { status, body } = await sendExample(client.api, creation, subject);
  expectStatus(client.findings, creation.name, status, creation.status);
  if (status !== creation.status) return;
  for (const example of others) {
    const made = { ...subject, memoryId: body.id };
    const response = await sendExample(client.api, example, made);
    expectStatus(client.findings, example.name, response.status, example.status);
  }
};

const actions: readonly (readonly [weight: number, act: (client: Client) => Promise<void>])[] = [
  [3, register],
  [1, contest],
  [3, logIn],
  [1, failToLogIn],
  [8, readOwn],
  [4, update],
  [1, create],
  [1, remove],
  [3, read],
  [1, beRefused],
  [1, useMemory],
];
const choices = actions.flatMap(([weight, act]) => Array.from({ length: weight }, () => act));

/** The most requests of one client, whatever the time. */
const maxActions = 1_000_000;

/**
 * Sends requests at random until the deadline.
 * @param deadline a time of `performance.now()`
 */
export const work = async (means: Means, deadline: number): Promise<void> => {
  const client: Client = { ...means, accounts: new Map(), tokens: new Map() };
  for (let i = 0; i < maxActions && performance.now() < deadline; i += 1) {
    const act = pick(choices) ?? readOwn;
    try {
      await act(client);
    } catch (error) {
      means.findings.violations.push(`${act.name}: no response, ${error}`);
    }
  }
};

/** The users of /api/v1, compared with a map in memory, whatever is sent. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { counted, holds } from '../support/runs.ts';
import { expectSound } from './answers.ts';
import { bodyOf } from './commands.ts';
import { type Answer, type Call, startHandlers } from './handlers.ts';
import { requestTo } from './requests.ts';

const handlers = await startHandlers();
const call = counted(handlers.call);

const collection = '/api/v1/users';
const headers = { 'content-type': 'application/json' };

type Fields = { readonly name?: string; readonly email?: string };
interface User extends Required<Fields> {
  readonly id: number;
}
type Users = ReadonlyMap<number, User>;

const list = async (): Promise<Users> => {
  const { text = '' } = await handlers.call({ route: `GET ${collection}`, headers: {} });
  return new Map(JSON.parse(text).map((user: User) => [user.id, user]));
};

const emails = ['ada@b', 'élan@b'];

const refill = async () => {
  for (const id of (await list()).keys()) {
    await handlers.call({ route: `DELETE ${collection}/{id}`, headers, id: String(id) });
  }
  for (const email of emails) {
    const body = JSON.stringify({ name: 'n', email });
    await handlers.call({ route: `POST ${collection}`, headers, body });
  }
};

type Outcome = readonly [status: number, shown?: unknown, after?: Users];

const isTaken = (users: Users, email: string, by: number) =>
  [...users.values()].some(
    ({ id, email: own }) => id !== by && own.toLowerCase() === email.toLowerCase(),
  );

const write = (users: Users, id: number, status: number, { name, email }: Fields): Outcome => {
  if (!name || !email) return [400];
  if (isTaken(users, email, id)) return [409];
  return [status, { id, name, email }, new Map(users).set(id, { id, name, email })];
};

const ofUser = (users: Users, sent: Call, fields: () => Fields): Outcome => {
  const user = users.get(Number(sent.id));
  if (!user || sent.id !== String(user.id)) return [404];
  const { id } = user;
  if (sent.route.startsWith('GET')) return [200, user];
  if (sent.route.startsWith('PUT')) return write(users, id, 200, fields());
  if (sent.route.startsWith('DELETE')) {
    return [204, undefined, new Map([...users].filter(([other]) => other !== id))];
  }
  const { name, email } = fields();
  return write(users, id, 200, { name: name || user.name, email: email || user.email });
};

/** @param newId the one that the service has chosen, which nobody may have yet */
const outcomeOf = (users: Users, sent: Call, newId: number): Outcome => {
  const fields = (): Fields => (sent.body ? bodyOf(sent) : {});
  if (sent.route === `GET ${collection}`) return [200, [...users.values()]];
  if (!sent.route.startsWith('POST')) return ofUser(users, sent, fields);
  return users.has(newId) ? [500] : write(users, newId, 201, fields());
};

/** What a response shows of users. */
const shownIn = (status: number, text = ''): unknown => {
  if (status >= 400 || status === 204) return undefined;
  const body = JSON.parse(text);
  if (Array.isArray(body)) return body;
  expect(Object.keys(body).sort()).toEqual(['createdAt', 'email', 'id', 'name']);
  return { id: body.id, name: body.name, email: body.email };
};

/** Fields that break no rule but that they may be missing, empty or somebody's. */
const plainFields = fc.record(
  {
    name: fc.constantFrom('', 'Ada', ' '),
    email: fc.constantFrom('', ...emails, 'ADA@B', 'other@b', 'e'),
  },
  { requiredKeys: [] },
);
const plain = (route: string) =>
  fc.record({
    route: fc.constant(route),
    headers: fc.constant(headers),
    id: fc.constantFrom('1', '2', '9007199254740991'),
    body: plainFields.map((fields) => JSON.stringify(fields)),
  });

const expectModelled = (before: Users, sent: Call, { status, text }: Answer): Users => {
  const { id = 0 } = (shownIn(status, text) ?? {}) as { id?: number };
  const [expected, shown, after = before] = outcomeOf(before, sent, id);
  expect([status, shownIn(status, text)]).toEqual([expected, shown]);
  return after;
};

const expectHonest = async (calls: readonly (readonly [Call, isPlain: boolean])[]) => {
  await refill();
  for (const [request, isPlain] of calls) {
    const before = await list();
    // Ids are never used twice, so that the sent ids are the ids of the users in the list.
    const id = [...before.keys()][Number(request.id) - 1];
    const sent = id === undefined ? request : { ...request, id: String(id) };
    const answer = await call(sent);
    expectSound(answer, [handlers.jwtSecret]);
    // A body that breaks another rule is refused; what its fields say is not known here.
    const isRefused = !isPlain && [400, 404, 413].includes(answer.status);
    const after = isRefused ? before : expectModelled(before, sent, answer);
    expect(await list()).toEqual(after);
  }
};

const accounts = emails.map((email, i) => ({ id: i + 1, email, password: 'p' }));
const known = { tokens: ['none'] as const, secret: handlers.jwtSecret, accounts, cursors: [] };

const routes = [
  `GET ${collection}`,
  `POST ${collection}`,
  `GET ${collection}/{id}`,
  `PUT ${collection}/{id}`,
  `PATCH ${collection}/{id}`,
  `DELETE ${collection}/{id}`,
];
const anyOf = (own: readonly string[]) => {
  const hostile = fc.oneof(...own.map((route) => requestTo(route, known)));
  const sound = fc.oneof(...own.map(plain));
  const calls = fc.oneof(fc.tuple(hostile, fc.constant(false)), fc.tuple(sound, fc.constant(true)));
  return fc.array(calls, { minLength: 1, maxLength: 16, size: 'max' });
};

it.each(routes)(
  '%s gives valid responses and behaves like a map, whatever is sent',
  async (route) => {
    await holds(110, fc.asyncProperty(anyOf([route]), expectHonest));
  },
);

it('All six endpoints in any order behave like a map', async () => {
  await holds(110, fc.asyncProperty(anyOf(routes), expectHonest));
});

import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { serviceForThisFile } from '../support/acceptance.ts';
import { counted, holds } from '../support/runs.ts';
import { isExplained, perform, type Step } from './history.ts';

const { api } = await serviceForThisFile();
const collection = '/api/v1/users';

type Fields = { readonly name?: string; readonly email?: string };
type Users = ReadonlyMap<number, Required<Fields>>;

interface Command {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Absent: the collection. */
  readonly id?: number;
  readonly fields: Fields;
}

interface Observation {
  readonly command: Command;
  readonly status: number;
  readonly seen: unknown;
}

type Outcome = readonly [status: number, shown?: unknown, after?: Users];

const isTaken = (users: Users, email: string, by: number) =>
  [...users].some(([id, user]) => id !== by && user.email.toLowerCase() === email.toLowerCase());

const write = (users: Users, id: number, status: number, { name, email }: Fields): Outcome => {
  if (!name || !email) return [400];
  if (isTaken(users, email, id)) return [409];
  return [status, { id, name, email }, new Map(users).set(id, { name, email })];
};

const onUser = (users: Users, { method, fields }: Command, id: number): Outcome => {
  const user = users.get(id);
  if (!user) return [404];
  if (method === 'GET') return [200, { id, ...user }];
  if (method === 'PUT') return write(users, id, 200, fields);
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value));
  if (method === 'PATCH') return write(users, id, 200, { ...user, ...given });
  return [204, undefined, new Map([...users].filter(([number]) => number !== id))];
};

/** @param newId the one that the service has chosen, which nobody may have yet */
const outcomeOf = (users: Users, command: Command, newId: number): Outcome => {
  if (command.id !== undefined) return onUser(users, command, command.id);
  if (command.method === 'POST' && !users.has(newId)) {
    return write(users, newId, 201, command.fields);
  }
  return [200, [...users].map(([id, user]) => ({ id, ...user }))];
};

const accept = (users: Users, { command, status, seen }: Observation): Users | undefined => {
  const { id = 0 } = (seen ?? {}) as { id?: number };
  const [wanted, shown, after = users] = outcomeOf(users, command, id);
  return wanted === status && isDeepStrictEqual(seen, shown) ? after : undefined;
};

const shownIn = ({ id, name, email }: { id: number; name: string; email: string }) => ({
  id,
  name,
  email,
});

const send = counted(async (command: Command): Promise<Observation> => {
  const { method, id, fields } = command;
  const path = id === undefined ? collection : `${collection}/${id}`;
  const json = method.startsWith('P') ? { json: fields } : {};
  const { status, body } = await api(method, path, json);
  if (status >= 400 || body === undefined) return { command, status, seen: undefined };
  return { command, status, seen: Array.isArray(body) ? body.map(shownIn) : shownIn(body) };
});

const listAll: Command = { method: 'GET', fields: {} };

const field = (...values: readonly string[]) =>
  fc.option(fc.constantFrom('', ' ', ...values), { nil: undefined, freq: 6 });

/** Ids count from the start of the service: of the last few, each is somebody's or was. */
const command = (lastId: () => number): fc.Arbitrary<() => Command> => {
  const fields = fc
    .record({ name: field('Ada', 'Grace'), email: field('a@b', 'A@B', 'c@d', 'e') })
    .map((parts) => JSON.parse(JSON.stringify(parts)) as Fields);
  const methods = fc.constantFrom<Command['method']>('GET', 'POST', 'PUT', 'PATCH', 'DELETE');
  return fc.record({ method: methods, age: fc.nat(4), all: fc.nat(4), fields }).map((parts) => {
    const { method, age, all, fields: sent } = parts;
    const onAll = method === 'POST' || (method === 'GET' && all === 0);
    const make = () => ({
      method,
      fields: sent,
      ...(onAll ? {} : { id: Math.max(1, lastId() - age) }),
    });
    return Object.assign(make, { [fc.toStringMethod]: () => JSON.stringify(parts) });
  });
};

/** The highest id that was seen. */
let lastId = 0;
const perceive = async (made: () => Command): Promise<Observation> => {
  const observed = await send(made());
  if (observed.status === 201) lastId = Math.max(lastId, (observed.seen as { id: number }).id);
  return observed;
};

const expectExplained = async (steps: readonly Step<Observation>[]) => {
  const history = [...steps, ...(await perform([listAll], send))];
  if (!isExplained(history, new Map() as Users, accept)) {
    expect.fail(`No order explains\n${history.map((step) => JSON.stringify(step)).join('\n')}`);
  }
};

const cleanUp = async () => {
  const { seen } = await send(listAll);
  const users = seen as readonly { id: number }[];
  await Promise.all(users.map(({ id }) => send({ method: 'DELETE', id, fields: {} })));
};

describe('The users of /api/v1', () => {
  const some = command(() => lastId);

  it('behave like a map in memory, one request after the other', async () => {
    const commands = fc.array(some, { minLength: 1, maxLength: 25, size: 'max' });

    const property = fc.asyncProperty(commands, async (made) => {
      await expectExplained(await perform(made, perceive));
      await cleanUp();
    });
    await holds(50, property);
  });

  it('behave like a map in memory to several clients at the same time', async () => {
    const branch = fc.array(some, { minLength: 1, maxLength: 4 });
    const branches = fc.array(branch, { minLength: 2, maxLength: 3 });

    const property = fc.asyncProperty(branches, async (concurrent) => {
      const parallel = await Promise.all(concurrent.map((made) => perform(made, perceive)));
      await expectExplained(parallel.flat());
      await cleanUp();
    });
    await holds(60, property);
  });
});

import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { decodeJwt } from 'jose';
import { describe, expect, inject, it } from 'vitest';
import { listUsers, serviceForThisFile } from '../acceptance.ts';
import type { ApiAnswer } from '../client.ts';
import { counted, holds } from '../properties/runs.ts';
import { brokenItems, scan, usersIn } from '../races/invariants.ts';
import { type Accounts, type Command, outcomeOf } from './accounts.ts';
import { isExplained, perform, type Step } from './history.ts';

const service = await serviceForThisFile({
  LOGIN_FAILURES_PER_ACCOUNT: '0',
  LOGIN_FAILURES_PER_ADDRESS: '0',
});
const { adminToken: token } = service;
const api = counted(([method, path, json]: readonly [string, string, unknown?]) =>
  service.api(method, path, json === undefined ? { token } : { token, json }),
);

/** A command before it is known which addresses and users there are. */
interface Plan {
  readonly kind: Command['kind'];
  readonly user: number;
  readonly email: number;
  readonly spelling: 'toLowerCase' | 'toUpperCase';
  readonly name: string;
  readonly password: string;
  readonly role: string;
  /** Which of its fields an update changes. */
  readonly fields: readonly ('name' | 'email' | 'password' | 'role')[];
}

const emailCount = 3;
const passwords = ['one', 'other'];

const planOf = (kinds: fc.Arbitrary<Command['kind']>): fc.Arbitrary<Plan> =>
  fc.record({
    kind: kinds,
    user: fc.nat(9),
    email: fc.nat(emailCount - 1),
    spelling: fc.constantFrom('toLowerCase', 'toUpperCase'),
    name: fc.constantFrom('Ada', 'Grace', 'Élan'),
    password: fc.constantFrom(...passwords),
    role: fc.constantFrom('user', 'admin'),
    fields: fc.subarray(['name', 'email', 'password', 'role'], { minLength: 1 }),
  });

const kind = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom<Command['kind']>('register', 'create', 'delete', 'login'),
  },
  { weight: 3, arbitrary: fc.constant<Command['kind']>('update') },
  { weight: 1, arbitrary: fc.constantFrom<Command['kind']>('get', 'list') },
);

interface Observation {
  readonly command: Command;
  readonly status: number;
  /** What the answer shows of users; of an error, nothing. */
  readonly seen: unknown;
}

/** An id that no user has. */
const nobody = Number.MAX_SAFE_INTEGER;

/** The addresses and the users of one run. */
interface Scene {
  readonly emails: readonly string[];
  readonly ids: number[];
}

const makeScene = (): Scene => {
  const run = randomUUID();
  return { emails: Array.from({ length: emailCount }, (_, i) => `${i}-${run}@b`), ids: [] };
};

const commandOf = ({ emails, ids }: Scene, plan: Plan): Command => {
  const { kind, name, password, role, fields, spelling } = plan;
  const email = (emails[plan.email] ?? '')[spelling]();
  const id = ids[plan.user % Math.max(1, ids.length)] ?? nobody;
  const user = { name, email, password, role };
  const changes = Object.fromEntries(fields.map((field) => [field, user[field]]));
  return { kind, user, email, password, id, changes } as Command;
};

const requestOf = (command: Command): Promise<ApiAnswer> => {
  switch (command.kind) {
    case 'register':
      return api(['POST', '/api/auth/register', command.user]);
    case 'create':
      return api(['POST', '/api/users', command.user]);
    case 'login': {
      const { email, password } = command;
      return api(['POST', '/api/login', { email, password }]);
    }
    case 'update':
      return api(['PUT', `/api/users/${command.id}`, command.changes]);
    case 'delete':
      return api(['DELETE', `/api/users/${command.id}`]);
    case 'get':
      return api(['GET', `/api/users/${command.id}`]);
    case 'list':
      return api(['GET', '/api/users']);
  }
};

const userIn = ({ id, name, email, role }: Record<string, unknown>) => ({ id, name, email, role });

const seenIn = ({ emails }: Scene, { status, body }: ApiAnswer): unknown => {
  if (status >= 400 || body === undefined) return undefined;
  if (body.token) {
    const { id, email, role } = decodeJwt(body.token);
    return { id, email, role };
  }
  if (!Array.isArray(body)) return userIn(body);
  return body.filter(({ email }) => emails.includes(email.toLowerCase())).map(userIn);
};

const send = async (scene: Scene, plan: Plan): Promise<Observation> => {
  const command = commandOf(scene, plan);
  const answer = await requestOf(command);
  const seen = seenIn(scene, answer);
  if (answer.status === 201) scene.ids.push((seen as { id: number }).id);
  return { command, status: answer.status, seen };
};

/** Whether everything that was seen is as it should be; a token shows no name. */
const agree = (seen: unknown, shown: unknown): boolean => {
  if (typeof seen !== 'object' || seen === null || Array.isArray(seen)) {
    return isDeepStrictEqual(seen, shown);
  }
  return isDeepStrictEqual(seen, { ...seen, ...pick(shown as object, Object.keys(seen)) });
};
const pick = (object: object, keys: readonly string[]) =>
  Object.fromEntries(Object.entries(object).filter(([key]) => keys.includes(key)));

const accept = (accounts: Accounts, { command, status, seen }: Observation) => {
  const { id = nobody } = (seen ?? {}) as { id?: number };
  const [wanted, shown, after = accounts] = outcomeOf(accounts, command, id);
  return wanted === status && agree(seen, shown) ? after : undefined;
};

/** Looks at everything that the run may have left. */
const inspection = ({ ids }: Scene): readonly Plan[] => {
  const plan = { name: '', role: 'user', spelling: 'toUpperCase', fields: [] } as const;
  const logins = Array.from({ length: emailCount }, (_, email) =>
    passwords.map((password) => ({ ...plan, kind: 'login', email, password, user: 0 }) as const),
  );
  const gets = ids.map(
    (_, user) => ({ ...plan, kind: 'get', user, email: 0, password: '' }) as const,
  );
  return [...gets, ...logins.flat()];
};

const expectExplained = async (scene: Scene, steps: readonly Step<Observation>[]) => {
  const observations = await Promise.all(inspection(scene).map((plan) => send(scene, plan)));
  // Reads of what has come to rest: in whichever order.
  const rest = observations.map((observed, i) => {
    const time = performance.now() + i;
    return { observed, begun: time, ended: time };
  });
  const history = [...steps, ...rest];
  if (!isExplained(history, new Map() as Accounts, accept)) {
    expect.fail(`No order explains\n${history.map((step) => JSON.stringify(step)).join('\n')}`);
  }
};

const expectSoundTable = async () => {
  const items = await scan(inject('engine'), service.environment.USERS_TABLE ?? '');
  expect(brokenItems(items)).toEqual([]);
  const ids = usersIn(items).map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
};

const cleanUp = async ({ ids }: Scene) => {
  await Promise.all(ids.map((id) => service.api('DELETE', `/api/users/${id}`, { token })));
};

describe('The accounts of the service behave like a map in memory', () => {
  it('one request after the other', async () => {
    const plans = fc.array(planOf(kind), { minLength: 1, maxLength: 25, size: 'max' });

    await holds(
      50,
      fc.asyncProperty(plans, async (planned) => {
        const scene = makeScene();
        const steps = await perform(planned, (plan) => send(scene, plan));
        await expectExplained(scene, steps);
        await cleanUp(scene);
      }),
    );

    await expectSoundTable();
    expect(await listUsers(service.api, token)).toHaveLength(1);
  });

  it('to several clients at the same time', async () => {
    const first = fc.array(planOf(fc.constantFrom('register', 'create')), { maxLength: 3 });
    const branch = fc.array(planOf(kind.filter((name) => name !== 'list')), {
      minLength: 1,
      maxLength: 4,
    });
    const branches = fc.array(branch, { minLength: 2, maxLength: 3 });

    await holds(
      100,
      fc.asyncProperty(first, branches, async (planned, concurrent) => {
        const scene = makeScene();
        const prefix = await perform(planned, (plan) => send(scene, plan));
        const parallel = await Promise.all(
          concurrent.map((plans) => perform(plans, (plan) => send(scene, plan))),
        );
        await expectExplained(scene, [...prefix, ...parallel.flat()]);
        await cleanUp(scene);
      }),
    );

    await expectSoundTable();
  });
});

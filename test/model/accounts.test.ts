import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { decodeJwt } from 'jose';
import { describe, expect, inject, it } from 'vitest';
import { counted, holds } from '../properties/runs.ts';
import { listUsers, serviceForThisFile } from '../support/acceptance.ts';
import type { ApiAnswer } from '../support/client.ts';
import { brokenItems, scan, usersIn } from '../support/stored-items.ts';
import { claimsWith, signToken } from '../support/tokens.ts';
import { type Accounts, type Command, outcomeOf } from './accounts.ts';
import { isExplained, perform, type Step } from './history.ts';
import {
  anything,
  consistent,
  creations,
  inspection,
  makeScene,
  nobody,
  type Scene,
} from './plans.ts';

const service = await serviceForThisFile({
  LOGIN_FAILURES_PER_ACCOUNT: '0',
  LOGIN_FAILURES_PER_ADDRESS: '0',
});
const { adminToken: token } = service;

const requestOf = (command: Command): readonly [method: string, path: string, json?: unknown] => {
  switch (command.kind) {
    case 'register':
      return ['POST', '/api/auth/register', command.user];
    case 'create':
      return ['POST', '/api/users', command.user];
    case 'appoint':
      return ['POST', '/api/users', { ...command.user, role: 'admin' }];
    case 'promote':
      return ['PUT', `/api/users/${command.id}`, { role: 'admin' }];
    case 'login':
      return ['POST', '/api/login', { email: command.email, password: command.password }];
    case 'update':
      return ['PUT', `/api/users/${command.id}`, command.changes];
    case 'delete':
      return ['DELETE', `/api/users/${command.id}`];
    case 'get':
      return ['GET', `/api/users/${command.id}`];
    case 'list':
      return ['GET', '/api/users'];
  }
};

/** The token of somebody who was an admin once. */
const oldToken = (id: number): string =>
  signToken(claimsWith({ id, role: 'admin' }), service.jwtSecret);

const call = counted((command: Command): Promise<ApiAnswer> => {
  const [method, path, json] = requestOf(command);
  const caller = 'by' in command ? oldToken(command.by) : token;
  return service.api(method, path, { token: caller, ...(json === undefined ? {} : { json }) });
});

interface Observation {
  readonly command: Command;
  readonly status: number;
  /** What the answer shows of users; of an error, nothing. */
  readonly seen: unknown;
}

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

const send = async (scene: Scene, command: Command): Promise<Observation> => {
  const answer = await call(command);
  const seen = seenIn(scene, answer);
  if (answer.status === 201) scene.ids.push((seen as { id: number }).id);
  return { command, status: answer.status, seen };
};

/** Whether what was seen is what the model shows; a token shows less than a user. */
const agree = (seen: unknown, shown: unknown): boolean => {
  if (typeof seen !== 'object' || seen === null || Array.isArray(seen)) {
    return isDeepStrictEqual(seen, shown);
  }
  const comparable = Object.entries(shown ?? {}).filter(([key]) => key in seen);
  return isDeepStrictEqual(seen, Object.fromEntries(comparable));
};

const accept = (accounts: Accounts, { command, status, seen }: Observation) => {
  const { id = nobody } = (seen ?? {}) as { id?: number };
  const [wanted, shown, after = accounts] = outcomeOf(accounts, command, id);
  return wanted === status && agree(seen, shown) ? after : undefined;
};

const expectExplained = async (scene: Scene, steps: readonly Step<Observation>[]) => {
  const looks = await Promise.all(inspection(scene).map((command) => send(scene, command)));
  // What has come to rest looks the same in whichever order it is looked at.
  const rest = looks.map((observed, i) => {
    const time = performance.now() + i;
    return { observed, begun: time, ended: time };
  });
  const history = [...steps, ...rest];
  if (!isExplained(history, new Map() as Accounts, accept)) {
    expect.fail(`No order explains\n${history.map((step) => JSON.stringify(step)).join('\n')}`);
  }
};

const cleanUp = ({ ids }: Scene) =>
  Promise.all(ids.map((id) => service.api('DELETE', `/api/users/${id}`, { token })));

const expectSoundTable = async () => {
  const items = await scan(inject('engine'), service.environment.USERS_TABLE ?? '');
  expect(brokenItems(items)).toEqual([]);
  const ids = usersIn(items).map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
};

describe('The accounts of the service behave like a map in memory', () => {
  it('one request after the other', async () => {
    const commands = fc.array(anything, { minLength: 1, maxLength: 25, size: 'max' });
    const run = async (plans: readonly ((scene: Scene) => Command)[]) => {
      const scene = makeScene();
      const steps = await perform(plans, (plan) => send(scene, plan(scene)));
      await expectExplained(scene, steps);
      await cleanUp(scene);
    };

    await holds(20, fc.asyncProperty(commands, run));

    await expectSoundTable();
    expect(await listUsers(service.api, token)).toHaveLength(1);
  });

  it('to several clients at the same time', async () => {
    const first = fc.array(creations, { minLength: 1, maxLength: 2 });
    const branch = fc.array(consistent, { minLength: 1, maxLength: 3 });
    const branches = fc.array(branch, { minLength: 2, maxLength: 3 });

    const property = fc.asyncProperty(first, branches, async (planned, concurrent) => {
      const scene = makeScene();
      const prefix = await perform(planned, (plan) => send(scene, plan(scene)));
      const parallel = await Promise.all(
        concurrent.map((plans) => perform(plans, (plan) => send(scene, plan(scene)))),
      );
      await expectExplained(scene, [...prefix, ...parallel.flat()]);
      await cleanUp(scene);
    });
    await holds(50, property);

    await expectSoundTable();
  });
});

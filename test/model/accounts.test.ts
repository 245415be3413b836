import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { listUsers, serviceForThisFile } from '../support/acceptance.ts';
import type { ApiAnswer } from '../support/client.ts';
import {
  type Accounts,
  agrees,
  type Command,
  idSeen,
  outcomeOf,
  requestOf,
  seenIn,
} from '../support/model.ts';
import { counted, holds } from '../support/runs.ts';
import { claimsWith, signToken } from '../support/tokens.ts';
import { expectSoundTable } from '../support/users-table.ts';
import {
  anything,
  consistent,
  creations,
  inspection,
  makeScene,
  type Plan,
  type Scene,
} from './plans.ts';

const service = await serviceForThisFile({
  LOGIN_FAILURES_PER_ACCOUNT: '0',
  LOGIN_FAILURES_PER_ADDRESS: '0',
});
const { adminToken: token } = service;

/** The token of a user, or of somebody who was an admin once. */
const tokenOf = (id: number, role: 'user' | 'admin'): string =>
  signToken(claimsWith({ id, role }), service.jwtSecret);

const call = counted((command: Command): Promise<ApiAnswer> => {
  const { route, id, json } = requestOf(command);
  const [method = '', path = ''] = route.split(' ');
  const caller = command.by === undefined ? token : tokenOf(command.by, command.as ?? 'admin');
  const options = { token: caller, ...(json ? { json } : {}) };
  return service.api(method, path.replace('{id}', String(id)), options);
});

interface Observation {
  readonly command: Command;
  readonly status: number;
  /** The users that the response shows; nothing if it is an error. */
  readonly seen: unknown;
}

/** Other runs leave nothing, but the list has the service's own admin. */
const seenOf = ({ emails }: Scene, response: ApiAnswer): unknown => {
  const seen = seenIn(response);
  if (!Array.isArray(seen)) return seen;
  return seen.filter(({ email }) => emails.includes(email.toLowerCase()));
};

const send = async (scene: Scene, command: Command): Promise<Observation> => {
  const answer = await call(command);
  const seen = seenOf(scene, answer);
  if (answer.status === 201) {
    const { by, as } = command;
    scene.ids.push(idSeen(seen));
    if (by !== undefined && as) scene.made.push({ id: idSeen(seen), by });
  }
  return { command, status: answer.status, seen };
};

const accept = (accounts: Accounts, { command, status, seen }: Observation) => {
  const outcome = outcomeOf(accounts, command, idSeen(seen));
  return outcome.status === status && agrees(seen, outcome)
    ? (outcome.after ?? accounts)
    : undefined;
};

/** One request with its answer. Times are milliseconds of one clock. */
interface Step {
  readonly observed: Observation;
  readonly begun: number;
  readonly ended: number;
}

/** Sends commands one after the other. */
const perform = async (scene: Scene, plans: readonly Plan[]): Promise<Step[]> => {
  const steps: Step[] = [];
  for (const plan of plans) {
    const begun = performance.now();
    const observed = await send(scene, plan(scene));
    steps.push({ observed, begun, ended: performance.now() });
  }
  return steps;
};

/**
 * Whether the model allows a history in some order in which no step comes before one that had ended
 * when it began: whether the service seems to do one thing after the other (linearizability).
 */
const isExplained = (steps: readonly Step[], accounts: Accounts): boolean => {
  if (steps.length === 0) return true;
  const firstEnd = Math.min(...steps.map(({ ended }) => ended));
  return steps
    .filter(({ begun }) => begun <= firstEnd)
    .some((step) => {
      const next = accept(accounts, step.observed);
      const rest = steps.filter((other) => other !== step);
      return next !== undefined && isExplained(rest, next);
    });
};

const expectExplained = async (scene: Scene, steps: readonly Step[]) => {
  const looks = await Promise.all(inspection(scene).map((command) => send(scene, command)));
  // After all requests have ended, these reads have the same outcome in any order.
  const rest = looks.map((observed, i) => {
    const time = performance.now() + i;
    return { observed, begun: time, ended: time };
  });
  const history = [...steps, ...rest];
  if (!isExplained(history, new Map())) {
    expect.fail(`No order explains\n${history.map((step) => JSON.stringify(step)).join('\n')}`);
  }
};

const cleanUp = ({ ids }: Scene) =>
  Promise.all(ids.map((id) => service.api('DELETE', `/api/users/${id}`, { token })));

describe('The accounts of the service', () => {
  it('behave like a map in memory, one request after the other', async () => {
    const commands = fc.array(anything, { minLength: 1, maxLength: 25, size: 'max' });
    const run = async (plans: readonly Plan[]) => {
      const scene = makeScene();
      await expectExplained(scene, await perform(scene, plans));
      await cleanUp(scene);
    };

    await holds(20, fc.asyncProperty(commands, run));

    await expectSoundTable(service);
    expect(await listUsers(service.api, token)).toHaveLength(1);
  });

  it('behave like a map in memory to several clients at the same time', async () => {
    const first = fc.array(creations, { minLength: 1, maxLength: 2 });
    const branch = fc.array(consistent, { minLength: 1, maxLength: 3 });
    const branches = fc.array(branch, { minLength: 2, maxLength: 3 });

    const property = fc.asyncProperty(first, branches, async (planned, concurrent) => {
      const scene = makeScene();
      const prefix = await perform(scene, planned);
      const parallel = await Promise.all(concurrent.map((plans) => perform(scene, plans)));
      await expectExplained(scene, [...prefix, ...parallel.flat()]);
      await cleanUp(scene);
    });
    await holds(50, property);

    await expectSoundTable(service);
  });
});

import {
  contest,
  create,
  failToLogIn,
  logIn,
  readOwn,
  register,
  remove,
  update,
} from './account-requests.ts';
import { audit, beRefused, list, useMemory } from './other-requests.ts';
import { pick, type Worker } from './worker.ts';

const actions: readonly (readonly [weight: number, act: (worker: Worker) => Promise<void>])[] = [
  [3, register],
  [1, contest],
  [3, logIn],
  [1, failToLogIn],
  [8, readOwn],
  [4, update],
  [1, create],
  [1, remove],
  [2, list],
  [1, audit],
  [1, beRefused],
  [1, useMemory],
];
const choices = actions.flatMap(([weight, act]) => Array.from({ length: weight }, () => act));

/** Requests of one client at most, whatever the time. */
const maxActions = 1_000_000;

/**
 * Makes requests at random until the deadline.
 * @param deadline of `performance.now()`
 */
export const work = async (
  means: Pick<Worker, 'client' | 'ledger' | 'adminToken'>,
  deadline: number,
): Promise<void> => {
  const worker: Worker = { ...means, accounts: [], memoryIds: [] };
  for (let i = 0; i < maxActions && performance.now() < deadline; i += 1) {
    const act = pick(choices) ?? readOwn;
    try {
      await act(worker);
    } catch (error) {
      means.ledger.violations.push(`${act.name}: no answer, ${error}`);
    }
  }
};

import { inject } from 'vitest';
import { logIn } from '../support/client.ts';
import type { Operation } from '../support/examples.ts';
import { asOnAws } from '../support/patience.ts';
import { type Fault, faults, type Rule, startProxy } from '../support/proxy.ts';
import { startTestService } from '../support/service.ts';
import { type Column, callAll, untilWell } from './experiment.ts';

export interface ProxiedFault {
  readonly name: string;
  readonly fault: Fault;
  /** Whether an operation fails while the fault lasts. */
  readonly hits: (operation: Operation) => boolean;
  /** Whether a second attempt succeeds. */
  readonly isRetried: boolean;
}

const everything = () => true;
const writes = (operation: Operation) => operation === 'write' || operation === 'transaction';
const transactions = (operation: Operation) => operation === 'transaction';

const fault = (
  name: string,
  of: Fault,
  { hits = everything, isRetried = true }: Partial<ProxiedFault> = {},
): ProxiedFault => ({ name, fault: of, hits, isRetried });

/**
 * The faults, by the service they are tried on: trying many on one saves starting it as often,
 * but the SDK's store of retries, which a lasting fault uses up, has to last.
 */
export const groups: readonly (readonly ProxiedFault[])[] = [
  [
    fault('reset', faults.reset),
    fault('lost answer', faults.lose),
    fault('truncated answer', faults.truncate),
  ],
  [
    fault('late answer', faults.delay, { hits: () => false }),
    fault('garbled answer', faults.garble, { isRetried: false }),
    fault('InternalServerError', faults.internalError),
    fault('missing table', faults.missingTable, { isRetried: false }),
  ],
  [
    fault('ThrottlingException', faults.throttle),
    fault('throttled transaction', faults.throttleTransaction, { hits: transactions }),
  ],
  [
    fault('ProvisionedThroughputExceeded', faults.throughputExceeded),
    fault('TransactionConflict', faults.conflict, { hits: writes }),
  ],
  [fault('no answer', faults.stall)],
  [fault('half an answer', faults.stallMidway)],
];

export interface ProxiedRun {
  readonly fault: ProxiedFault;
  /** The outcomes while the first attempt of every request fails. */
  readonly once: Column;
  /** The outcomes while every request to a table fails. */
  readonly users: Column;
  readonly audit: Column;
  /** The outcomes when all is well again, after the whole group. */
  readonly afterwards: Column;
  /** The broken items that were found in the users table after any of these. */
  readonly broken: readonly unknown[];
  readonly output: string;
}

const silences: readonly Fault[] = [faults.stall, faults.stallMidway];

/** Only what waits for a silent engine is about how long it waits. */
const settingsFor = (group: readonly ProxiedFault[]) =>
  group.some(({ fault }) => silences.includes(fault)) ? asOnAws : {};

/** Tries the faults of a group: each on first attempts, then each as a lasting one. */
const tryFaults = async (
  group: readonly ProxiedFault[],
  environment: Readonly<Record<string, string>>,
): Promise<ProxiedRun[]> => {
  const engine = inject('engine');
  const proxy = await startProxy(engine);
  const service = await startTestService({
    ...settingsFor(group),
    ...environment,
    AWS_ENDPOINT_URL_DYNAMODB: proxy.url,
  });
  const admin = await logIn(service.api, service.admin);
  const { USERS_TABLE: users = '', AUDIT_TABLE: audit = '' } = service.environment;
  const broken: unknown[] = [];
  const atOnce = { sideBySide: 10 };
  /**
   * The SDK's store of retries lasts for 35. An audit query can need eight of them, and a conditional
   * write, which is refused when its first attempt was made, gives none back. Each success without a
   * retry fills the store by a 14th of one.
   */
  const whileRetrying = (begin: () => void, end: () => void) => ({
    sideBySide: 2,
    afterBatch: async () => {
      end();
      for (let i = 0; i < 60; i += 1) await service.api('GET', '/api/profile', { token: admin });
      begin();
    },
  });
  const callUnder = async (...rules: readonly Rule[]): Promise<Column> => {
    const begin = () => proxy.impose(...rules);
    const end = () => proxy.impose();
    const run = await callAll({
      engine,
      service,
      admin,
      begin,
      end,
      ...(rules.some(({ firstAttempt }) => firstAttempt) ? whileRetrying(begin, end) : atOnce),
    });
    broken.push(...run.broken);
    return run.outcomes;
  };

  const once: Column[] = [];
  for (const { fault, isRetried } of group) {
    const call = () => callUnder({ fault, firstAttempt: true });
    once.push(await (isRetried ? untilWell(call) : call()));
  }
  const lasting: Pick<ProxiedRun, 'users' | 'audit'>[] = [];
  for (const { fault } of group) {
    lasting.push({
      users: await callUnder({ fault, table: users }),
      audit: await callUnder({ fault, table: audit }),
    });
  }
  const afterwards = await untilWell(() => callUnder());
  await service.stop();
  await proxy.stop();
  const output = service.output();
  return group.map(
    (fault, i) =>
      ({ fault, once: once[i], ...lasting[i], afterwards, broken, output }) as ProxiedRun,
  );
};

/** Groups tried at once: what delays the engine must stay less than what the faults do. */
const lanes = { dynoxide: 6, 'dynamodb-local': 2 };

/**
 * Tries every fault on a service with some settings.
 * @returns by its name
 */
export const tryAllFaults = async (
  environment: Readonly<Record<string, string>>,
): Promise<ReadonlyMap<string, ProxiedRun>> => {
  const waiting = [...groups];
  const runs: ProxiedRun[] = [];
  const work = async () => {
    for (let group = waiting.pop(); group; group = waiting.pop()) {
      runs.push(...(await tryFaults(group, environment)));
    }
  };
  await Promise.all(Array.from({ length: lanes[inject('engineName')] }, work));
  const inOrder = groups.flat().map(({ name }) => runs.find(({ fault }) => fault.name === name));
  return new Map(inOrder.filter((run) => run !== undefined).map((run) => [run.fault.name, run]));
};

import { expect, it } from 'vitest';
import { register } from '../support/client.ts';
import { type Output, operatedServiceForThisTest, operatorEntry } from '../support/operator.ts';

const runs = 200;

/** Milliseconds: each is a process of its own. */
const timeout = 900_000;

/** Where output goes, in turn: of standard output and of standard error. */
const sinks: readonly (readonly [Output, Output])[] = [
  ['full disk', 'pipe'],
  ['closed pipe', 'pipe'],
  ['full disk', 'full disk'],
  ['closed pipe', 'closed pipe'],
];

it(`Each of ${runs} changes leaves its entry, wherever the command's output goes`, {
  timeout,
}, async () => {
  const service = await operatedServiceForThisTest();
  const { id, email } = await register(service.api);
  const statuses: (number | null)[] = [];

  for (let run = 0; run < runs; run += 1) {
    const output = sinks[run % sinks.length] ?? ['pipe', 'pipe'];
    statuses.push((await service.operate(['create-admin', email], 'password', { output })).status);
  }

  const expected = Array.from({ length: runs }, (_, run) => {
    const first = { fields: ['password', 'role'], role: { from: 'user', to: 'admin' } };
    const details = run === 0 ? first : { fields: ['password'] };
    return operatorEntry('create-admin', { action: 'UPDATE', resource_id: String(id), details });
  });
  const entries = await service.entries();
  expect(entries.length).toBe(runs);
  expect(entries).toMatchObject(expected);
  expect(new Set(statuses)).toEqual(new Set([1]));
});

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

it(`Each of ${runs} changes of a role leaves its entry, wherever the command's output goes`, {
  timeout,
}, async () => {
  const service = await operatedServiceForThisTest();
  const { id, email } = await register(service.api);
  const statuses: (number | null)[] = [];

  for (let run = 0; run < runs; run += 1) {
    const output = sinks[run % sinks.length] ?? ['pipe', 'pipe'];
    const command = run % 2 === 0 ? 'promote' : 'demote';
    statuses.push((await service.operate([command, email], '', { output })).status);
  }

  const expected = Array.from({ length: runs }, (_, run) => {
    const [command, from, to] =
      run % 2 === 0 ? ['promote', 'user', 'admin'] : ['demote', 'admin', 'user'];
    return operatorEntry(String(command), {
      action: 'UPDATE',
      resource_id: String(id),
      details: { fields: ['role'], role: { from, to } },
    });
  });
  const entries = await service.entries();
  expect(entries.length).toBe(runs);
  expect(entries).toMatchObject(expected);
  expect(new Set(statuses)).toEqual(new Set([1]));
});

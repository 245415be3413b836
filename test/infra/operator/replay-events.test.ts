import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, it, onTestFinished, vi } from 'vitest';
import { handler } from '../../../functions/background/publish-audit.ts';
import { makeEntry } from '../../../lib/audit/entry.ts';
import { lambdaEnvironment } from '../../bench/cold/cold-start.ts';
import { startEventBus } from '../../support/event-bus.ts';
import { operatedServiceForThisFile } from '../../support/operator.ts';
import { openStream } from '../../support/stream.ts';

const { environment, folder, operate } = await operatedServiceForThisFile();
afterEach(() => {
  vi.unstubAllEnvs();
});

it('Entries of replay-audit are put on the bus, and are not reported as tampering', async () => {
  const bus = await startEventBus();
  onTestFinished(bus.stop);
  const variables = { ...lambdaEnvironment, ...environment, ...bus.environment };
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  const nextRecords = await openStream(environment.AUDIT_TABLE ?? '');
  const now = new Date(Date.now() - 86_400_000);
  // Of one millisecond and one id, so that the second one takes another.
  const entry = makeEntry({ action: 'DELETE', resource: 'users', result: 'SUCCESS' }, { now });
  const event = 'audit-entry-not-written';
  const lines = [1, 2].map(() => JSON.stringify({ event, writeId: randomUUID(), entry }));
  const file = join(folder, 'lines.log');
  await writeFile(file, lines.join('\n'));

  const { status } = await operate(['replay-audit', file]);

  expect(status).toBe(0);
  expect(await handler({ Records: [...(await nextRecords())] })).toEqual({ batchItemFailures: [] });
  const types = bus.events.map(({ type }) => type).filter((type) => type !== 'audit-logs.CREATE');
  expect(types).toEqual(['users.DELETE', 'users.DELETE']);
});

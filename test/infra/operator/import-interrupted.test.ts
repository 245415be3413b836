import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hash } from 'bcryptjs';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { type OperatedService, operatedServiceForThisTest } from '../../support/operator.ts';
import { type EngineProxy, type Fault, faults, holdBack, startProxy } from '../../support/proxy.ts';
import { brokenItems, scan } from '../../support/stored-items.ts';

const count = 300;
const password_hash = await hash('p', 4);

const writeUsers = async ({ folder }: OperatedService): Promise<string> => {
  const name = join(folder, 'users.ndjson');
  const lines = Array.from({ length: count }, (_, i) =>
    JSON.stringify({ name: `N ${i}`, email: `u${i}@example.org`, password_hash }),
  );
  await writeFile(name, `${lines.join('\n')}\n`);
  return name;
};

interface ProxiedService extends OperatedService {
  readonly proxy: EngineProxy;
}

const proxiedServiceForThisTest = async (): Promise<ProxiedService> => {
  const proxy = await startProxy(inject('engine'));
  onTestFinished(() => proxy.stop());
  const service = await operatedServiceForThisTest({ AWS_ENDPOINT_URL_DYNAMODB: proxy.url });
  return { ...service, proxy };
};

/** The user at whose insertion an import is interrupted: one in the middle of a block. */
const interruptedAt = 150;

/** Runs an import, and sends it a signal at a certain insertion, which waits for that. */
const interrupt = async (service: ProxiedService, file: string, signal: NodeJS.Signals) => {
  const { fault, reached, release } = holdBack();
  let insertions = 0;
  const atOne: Fault = (exchange) => {
    insertions += 1;
    return insertions === interruptedAt ? fault(exchange) : faults.pass(exchange);
  };
  service.proxy.impose({ fault: atOne, operation: 'TransactWriteItems' });
  const started = service.start(['import-users', file]);
  await Promise.race([reached, started.ended]);
  started.process.kill(signal);
  release();
  return started.ended;
};

/** Ids of all imported users, and what is wrong with the table. */
const examine = async ({ users, environment }: OperatedService) => {
  const imported = (await users()).filter(({ email }) => String(email).startsWith('u'));
  const broken = brokenItems(await scan(inject('engine'), environment.USERS_TABLE ?? ''));
  return { ids: imported.map(({ id }) => Number(id)), broken };
};

describe('An import that is interrupted', () => {
  it('finishes its block after Ctrl-C, says how to go on, and then goes on without a gap in the ids', async () => {
    const service = await proxiedServiceForThisTest();
    const file = await writeUsers(service);

    const first = await interrupt(service, file, 'SIGINT');
    const halfway = await examine(service);
    const second = await service.operate(['import-users', file]);

    const { ids, broken } = await examine(service);
    const done = halfway.ids.length;
    expect(first.status).toBe(1);
    expect(first.stderr).toBe(
      `Interrupted after line ${done}. Run the same command again: users who were imported already are skipped.\n`,
    );
    expect(first.stdout).toBe(`Imported: ${done}. Imported before: 0. Lines rejected: 0.\n`);
    expect(done).toBeLessThan(count);
    expect(done % 100).toBe(0);
    expect(halfway.broken).toEqual([]);
    expect(second.status).toBe(0);
    expect(second.stdout).toBe(
      `Imported: ${count - done}. Imported before: ${done}. Lines rejected: 0.\n`,
    );
    expect(broken).toEqual([]);
    expect(ids).toEqual(Array.from({ length: count }, (_, i) => Number(ids[0]) + i));
    const entries = await service.entries();
    expect(entries.map(({ details }) => JSON.parse(details ?? '').stage)).toEqual([
      'begun',
      'stopped',
      'begun',
      'finished',
    ]);
  });

  it('leaves no user half written after a kill, and is completed by another run', async () => {
    const service = await proxiedServiceForThisTest();
    const file = await writeUsers(service);

    await interrupt(service, file, 'SIGKILL');
    const halfway = await examine(service);
    const second = await service.operate(['import-users', file]);

    const { ids, broken } = await examine(service);
    expect(halfway.ids.length).toBeLessThan(count);
    expect([halfway.broken, broken]).toEqual([[], []]);
    expect(second.status).toBe(0);
    expect(new Set(ids).size).toBe(count);
    // The block under way had its ids already.
    expect(Math.max(...ids) - Math.min(...ids)).toBeLessThan(count + 100);
  });
});

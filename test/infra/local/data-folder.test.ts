import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { lockFolder } from '../../../infra/local/data-folder.ts';
import { engineOf } from '../../../infra/local/engine.ts';
import { register } from '../../support/client.ts';
import { operateApart } from '../../support/operator.ts';
import { processesWith } from './installation.ts';
import { endGroup, ownEngineForThisFile } from './own-engine.ts';

/** Starts that try for one folder in the same instant. */
const rivals = 3;

/** What the others are told, in one line, according to how far the first one has come. */
const refusalToRivals =
  /\(1\):\n(A service is already running on|A command or another service is using) the data in [^\n]+\.\n$/;

/** Where each engine stores its tables. */
const databases = { dynoxide: 'dynoxide.db', 'dynamodb-local': 'shared-local-instance.db' };

describe('A data folder', () => {
  const own = ownEngineForThisFile();
  const { data } = own;

  it('is not opened by a service whose port is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    onTestFinished(() => void other.close());
    const { port } = other.address() as { port: number };
    const untouched = join(data, 'untouched');

    const { code, output } = await own.startInVain({ PORT: String(port), DATA_DIR: untouched });

    expect(code).toBe(1);
    expect(output).toBe(`Port ${port} is in use by another program: set PORT to a free one.\n`);
    expect(engineOf(untouched)).toBeUndefined();
  });

  it.runIf(existsSync('/proc'))('is refused at once where no folder can be created', async () => {
    const { code, output } = await own.startInVain({ DATA_DIR: '/proc/x/y' });

    expect([code, output]).toEqual([
      1,
      'DATA_DIR must name a folder that can be created or used, not /proc/x/y (ENOENT).\n',
    ]);
  });

  it('is created with its parent folders, and only its owner can read them', async () => {
    const around = join(data, 'around');

    lockFolder(join(around, 'new'))?.();

    expect(statSync(around).mode & 0o777).toBe(0o700);
  });

  it('ends the service with one sentence when it is deleted while the service runs', async () => {
    const DATA_DIR = join(data, 'deleted');
    const service = await own.start({ DATA_DIR });
    const ended = service.process && once(service.process, 'exit');
    const before = service.output().length;

    // The engine may write in it meanwhile.
    rmSync(DATA_DIR, { recursive: true, maxRetries: 50 });

    expect((await ended)?.[0]).toBe(1);
    expect(service.output().slice(before)).toBe(
      `The data folder ${DATA_DIR} was deleted while the service was running: the service ends.\n`,
    );
    expect(await own.isVacated()).toBe(true);
  });

  it('belongs to exactly one of the services that start at once', async () => {
    const starts = await Promise.allSettled(Array.from({ length: rivals }, () => own.start()));

    const services = starts.filter((start) => start.status === 'fulfilled');
    const refusals = starts.filter((start) => start.status === 'rejected');
    expect(services).toHaveLength(1);
    for (const { reason } of refusals) expect(String(reason)).toMatch(refusalToRivals);
    for (const { value } of services) await value.stop();
    expect(await own.isVacated()).toBe(true);
  });

  it('is refused to a second service in one sentence that names the address of the first service', async () => {
    const first = await own.start();

    const { code, output } = await own.startInVain();
    const open = readdirSync(data).filter((name) => statSync(join(data, name)).mode & 0o077);

    const url = first.url.replace('127.0.0.1', 'localhost');
    expect([code, output]).toEqual([
      1,
      `A service is already running on the data in ${data} (${url}): stop it, or set DATA_DIR to another folder.\n`,
    ]);
    expect(open).toEqual([]);
    await register(first.api);
    await first.stop();
    expect(await own.isVacated()).toBe(true);
  });

  it('is opened by no second engine before the engine of a killed service has ended', async () => {
    const killed = await own.start();
    own.signalEngine('SIGSTOP');
    await endGroup(killed.process, 'SIGKILL');

    const { code, output } = await own.startInVain();
    own.signalEngine('SIGCONT');
    const next = await own.start();

    expect([code, output]).toEqual([
      1,
      `A DynamoDB engine that no service uses still has the data in ${data} open: end that process first.\n`,
    ]);
    await next.stop();
    expect(await own.isVacated()).toBe(true);
  });

  it('is refused in one sentence when a table in it is used for something else', async () => {
    const first = await own.start();
    await first.stop();

    const { code, output } = await own.startInVain({ AUDIT_TABLE: 'users' });

    expect([code, output]).toEqual([
      1,
      'The table users has another key: set AUDIT_TABLE to another name.\n',
    ]);
    expect(await own.isVacated()).toBe(true);
  });

  it.each([
    ['is not a database', () => Buffer.from('no database '.repeat(1000))],
    ['is damaged in the middle', (whole: Buffer) => whole.fill(255, 16_384, 49_152)],
    ['was cut', (whole: Buffer) => whole.subarray(0, 30_000)],
  ])('is refused in one sentence if its database %s', async (_, damage) => {
    const DATA_DIR = join(data, randomUUID());
    const first = await own.start({ DATA_DIR });
    await first.stop();
    const file = join(DATA_DIR, databases[inject('engineName')]);
    writeFileSync(file, damage(readFileSync(file)));

    const { code, output } = await own.startInVain({ DATA_DIR });

    const sentence = `The database ${file} is damaged: put a whole copy of ${DATA_DIR} in its place, or set DATA_DIR to another folder.`;
    expect([code, output]).toEqual([1, `${sentence}\n`]);
  });

  it('is refused to a command in the same sentence when its database file is not a database', async () => {
    const DATA_DIR = join(data, randomUUID());
    mkdirSync(DATA_DIR);
    const file = join(DATA_DIR, databases[inject('engineName')]);
    writeFileSync(file, 'no database '.repeat(1000));

    const { status, stderr } = await operateApart(['export-users', '-', `--local=${DATA_DIR}`]);

    expect([status, stderr]).toEqual([
      1,
      `The database ${file} is damaged: put a whole copy of ${DATA_DIR} in its place, or set DATA_DIR to another folder.\n`,
    ]);
  });

  it('is opened by a command after its service was killed, even if another engine has the old address', async () => {
    const killed = await own.start();
    await endGroup(killed.process, 'SIGKILL');
    const file = join(data, 'service.json');
    const left = JSON.parse(readFileSync(file, 'utf8'));
    writeFileSync(file, JSON.stringify({ ...left, endpoint: inject('engine') }));
    const environment = { USERS_TABLE: left.usersTable, AUDIT_TABLE: left.auditTable };

    const { status, stdout } = await operateApart(['export-users', '-', `--local=${data}`], {
      environment,
    });

    expect([status, stdout]).toEqual([0, expect.stringContaining('root@example.org')]);
    expect(await own.isVacated()).toBe(true);
  });

  it('is refused to a service and to another command while a command uses it', async () => {
    const unlock = lockFolder(data);

    const [start, command] = await Promise.all([
      own.startInVain(),
      operateApart(['export-users', '-', `--local=${data}`]),
    ]);
    unlock?.();

    expect([start.code, start.output]).toEqual([
      1,
      `A command or another service is using the data in ${data}: wait until it ends, or set DATA_DIR to another folder.\n`,
    ]);
    expect([command.status, command.stderr]).toEqual([
      1,
      `Another command, or a service that is starting or stopping, is using the data in ${data}: try again later.\n`,
    ]);
    expect(processesWith(data)).toEqual([]);
  });
});

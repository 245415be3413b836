/** The command that makes a machine: what it prints, stores and records, and what when it is refused or a write fails. */
import { describe, expect, inject, it } from 'vitest';
import { fillMachines } from '../../support/machines.ts';
import {
  operatedServiceForThisFile,
  operatedServiceForThisTest,
  operatorEntry,
} from '../../support/operator.ts';
import { proxyForThisFile } from '../../support/proxied-service.ts';
import { faults } from '../../support/proxy.ts';
import { scan } from '../../support/stored-items.ts';

const proxy = await proxyForThisFile();
const service = await operatedServiceForThisFile({
  AWS_ENDPOINT_URL_DYNAMODB: proxy.url,
  MACHINES: 'on',
});
const { adminToken: token, api, operate } = service;
const table = service.environment.USERS_TABLE ?? '';

const machines = async () => (await api('GET', '/api/machines', { token })).body.data;
const stored = async () =>
  (await scan(inject('engine'), table)).filter(({ pk }) => String(pk).startsWith('machine#'));
const newestEntry = async () => (await service.entries()).at(-1);

/** Makes a machine. @returns what the command printed, and the machine as an admin sees it */
const create = async (...options: string[]) => {
  const ended = await operate(['create-machine', 'Orders', ...options]);
  return { ...ended, key: ended.stdout.trim(), machine: (await machines()).at(-1) };
};

describe('create-machine', () => {
  it('prints the key alone on standard output, and all else on standard error', async () => {
    const { status, stdout, stderr, machine } = await create('--scope', 'audit:write');

    expect([status, stdout]).toEqual([0, expect.stringMatching(/^mk_\d+_[0-9A-Za-z]{49}\n$/)]);
    expect(stderr).toBe(
      `Made machine ${machine.id} with the scope audit:write. Its key, on standard output, is shown only now.\n`,
    );
  });

  it('makes a machine whose key is valid, by no admin and without an end', async () => {
    const { key, machine } = await create('--scope', 'users:read');

    expect(machine).toMatchObject({ name: 'Orders', made_by: null, expires_at: null });
    expect((await api('GET', '/api/users', { token: key })).status).toBe(200);
  });

  it('gives a machine several scopes, and an end', async () => {
    const scopes = ['--scope', 'audit:read', '--scope', 'users:read'];

    const { stderr, machine } = await create(
      ...scopes,
      '--expires-at',
      '2099-12-31T01:00:00+01:00',
    );

    expect(machine).toMatchObject({
      scopes: ['audit:read', 'users:read'],
      expires_at: '2099-12-31T00:00:00.000Z',
    });
    expect(stderr).toContain(
      'with the scopes audit:read, users:read until 2099-12-31T00:00:00.000Z.',
    );
  });

  it('leaves an entry with scopes, end and operator, and without the key', async () => {
    const { key, machine } = await create('--scope', 'audit:write');

    const entry = await newestEntry();
    expect(entry).toMatchObject(
      operatorEntry('create-machine', {
        action: 'CREATE',
        resource: 'machines',
        resource_id: `machine-${machine.id}`,
        details: { scopes: ['audit:write'], expires_at: null },
      }),
    );
    expect(JSON.stringify([entry, await stored()])).not.toContain(key);
  });

  it.each([
    ['no scope', [], '--scope must be a list of different scopes, each one of audit:write, '],
    ['an unknown scope', ['--scope', 'audit:delete'], '--scope must be a list of different scopes'],
    ['a scope twice', ['--scope', 'audit:read', '--scope', 'audit:read'], '--scope must be a list'],
    [
      'an end that is over',
      ['--scope', 'audit:read', '--expires-at', '2020-01-01'],
      '--expires-at must be',
    ],
    [
      'an end that is no time',
      ['--scope', 'audit:read', '--expires-at', 'soon'],
      '--expires-at must be',
    ],
  ])('makes nothing and ends with 2 if it is given %s', async (_, options, message) => {
    const before = [await stored(), await service.entries()];

    const { status, stdout, stderr } = await create(...options);

    expect([status, stdout, stderr]).toEqual([2, '', expect.stringMatching(`^${message}`)]);
    expect([await stored(), await service.entries()]).toEqual(before);
  });

  it('makes nothing and ends with 2 if the name is empty', async () => {
    const ended = await operate(['create-machine', ' ', '--scope', 'audit:write']);

    expect([ended.status, ended.stdout]).toEqual([2, '']);
    expect(ended.stderr).toMatch(/^NAME must/);
  });

  it('makes nothing, and says so, if there are 100 machines', async () => {
    const full = await operatedServiceForThisTest({ MACHINES: 'on' });
    const ids = Array.from({ length: 100 }, (_, i) => i + 1);
    await fillMachines(full.environment.USERS_TABLE ?? '', ids);

    const ended = await full.operate(['create-machine', 'Orders', '--scope', 'audit:write']);

    const stderr = 'There are 100 machines, and there may be no more: remove one in the console.\n';
    expect(ended).toEqual({ status: 1, stdout: '', stderr });
    expect(await full.entries()).toEqual([]);
  });

  it('leaves an entry with an unknown outcome, and no key, when the response of the table is lost', async () => {
    proxy.impose({ fault: faults.lose, operation: 'TransactWriteItems', table });

    const { status, stdout, stderr } = await operate([
      'create-machine',
      'Orders',
      '--scope',
      'audit:write',
    ]);

    const { id } = (await machines()).at(-1);
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toBe(
      `It is not known whether the change was made (ECONNRESET); its audit entry says so. Remove machine ${id} in the console if it is there, because nobody has its key, and run the command again.\n`,
    );
    expect(await newestEntry()).toMatchObject(
      operatorEntry('create-machine', {
        action: 'CREATE',
        resource: 'machines',
        resource_id: `machine-${id}`,
        result: 'FAILURE',
        details: {
          error: 'ECONNRESET',
          outcome: 'unknown',
          scopes: ['audit:write'],
          expires_at: null,
        },
      }),
    );
  });
});

import { describe, expect, inject, it } from 'vitest';
import { outcome, refusal } from '../../support/acceptance.ts';
import { type Account, logIn, register } from '../../support/client.ts';
import {
  operatedServiceForThisFile,
  operatedServiceForThisTest,
  operate as operateIn,
  operatorEntry,
} from '../../support/operator.ts';

const service = await operatedServiceForThisFile({ SESSION_DAYS: '90' });
const { api, operate } = service;

const profile = (token: string) => api('GET', '/api/profile', { token });
const expectEnded = async ({ token }: Account) =>
  expect(outcome(await profile(token))).toEqual(refusal(401, 'Invalid token'));

describe('revoke', () => {
  it('ends all sessions of a user, who may log in again', async () => {
    const account = await register(api);

    const { status, stdout, stderr } = await operate(['revoke', account.email]);

    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toBe(
      `The sessions of user ${account.id} are ended; the user can log in again.\n`,
    );
    await expectEnded(account);
    expect((await profile(await logIn(api, account))).status).toBe(200);
    expect((await service.entries()).at(-1)).toMatchObject(
      operatorEntry('revoke', {
        action: 'LOGOUT',
        resource_id: String(account.id),
        details: { scope: 'all' },
      }),
    );
  });

  it('refuses where there are no sessions, as revoke-all does, and changes nothing', async () => {
    const without = await operatedServiceForThisTest();
    const account = await register(without.api);
    const before = await without.users();

    for (const args of [['revoke', account.email], ['revoke-all']]) {
      const { status, stdout, stderr } = await without.operate(args);

      expect([status, stdout]).toEqual([1, '']);
      expect(stderr).toMatch(/^This service has no sessions, because sessionDays is 0: .*\n$/);
    }
    expect(await without.users()).toEqual(before);
    expect(await without.entries()).toEqual([]);
  });
});

describe('revoke-all', () => {
  it('ends the sessions of all users, who may log in again, and leaves one entry', async () => {
    const accounts = await Promise.all(Array.from({ length: 30 }, () => register(api)));
    const users = (await service.users()).length;
    const before = (await service.entries()).length;

    const { status, stdout, stderr } = await operate(['revoke-all']);

    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toBe(`The sessions of ${users} users are ended; they can log in again.\n`);
    for (const account of accounts) await expectEnded(account);
    const [account] = accounts as [Account];
    expect((await profile(await logIn(api, account))).status).toBe(200);
    const entries = (await service.entries()).slice(before).filter(({ user_id }) => !user_id);
    expect(entries).toEqual([
      expect.objectContaining(
        operatorEntry('revoke-all', { action: 'LOGOUT', details: { scope: 'everyone' } }),
      ),
    ]);
  });
});

describe('On the data of a service that does not run', () => {
  /** A service that has ended, and how a command reaches its data. */
  const endedService = async () => {
    const ended = await operatedServiceForThisTest({ SESSION_DAYS: '90' });
    const account = await register(ended.api);
    await ended.stop();
    const { USERS_TABLE = '', AUDIT_TABLE = '' } = ended.environment;
    const tables = { USERS_TABLE, AUDIT_TABLE, AWS_ENDPOINT_URL_DYNAMODB: inject('engine') };
    const run = (command: string, environment = {}) =>
      operateIn([command, account.email, `--local=${ended.folder}`], {
        input: 'password',
        environment: { ...tables, ...environment },
      });
    const ends = async () =>
      (await ended.users()).find(({ id }) => id === account.id)?.session_epoch ?? 0;
    return { run, ends };
  };

  it('commands end sessions, unless their environment says that there are none', async () => {
    const { run, ends } = await endedService();

    const statuses: [number | null, unknown][] = [];
    for (const command of ['revoke', 'create-admin']) {
      statuses.push([(await run(command)).status, await ends()]);
    }
    const { status, stderr } = await run('revoke', { SESSION_DAYS: '0' });

    expect(statuses).toEqual([
      [0, 1],
      [0, 2],
    ]);
    expect([status, stderr, await ends()]).toEqual([
      1,
      expect.stringMatching(/^This service has no/),
      2,
    ]);
  });
});

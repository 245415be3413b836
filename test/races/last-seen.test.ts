import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, inject, it, vi } from 'vitest';
import { noteSeen, readSeen } from '../../lib/options/sessions/seen.ts';
import { nextPage } from '../support/acceptance.ts';
import { logIn, register } from '../support/client.ts';
import { useOwnTables } from '../support/own-tables.ts';
import { startTestService } from '../support/service.ts';
import { engineClient, scan } from '../support/stored-items.ts';
import { count, times } from './at-once.ts';

describe('Two logins of a user around midnight', () => {
  it('leave the later day, once, whichever is written first', async () => {
    const { users: table } = await useOwnTables();
    vi.stubEnv('SESSION_DAYS', '90');
    const midnight = Date.parse('2026-08-31');

    await times(100, (i) =>
      noteSeen(1 + Math.floor(i / 2), [], new Date(midnight - (i % 2 ? 1 : 0))),
    );
    await times(100, (i) =>
      noteSeen(51 + Math.floor(i / 2), [], new Date(midnight - (i % 2 ? 0 : 1))),
    );

    const days = await times(100, (i) => readSeen(1 + i));
    vi.unstubAllEnvs();
    expect(days).toEqual(Array(100).fill('2026-08-31'));
    const items = await scan(inject('engine'), table);
    expect(items.filter(({ seen_on_id }) => seen_on_id)).toHaveLength(100);
  });
});

describe('A login beside the deletion of its user', () => {
  it('leaves nothing that a list of users who were not here shows, and nothing at all after it', async () => {
    const service = await startTestService({ SESSION_DAYS: '90', LOGIN_FAILURES_PER_ADDRESS: '0' });
    const { api, environment } = service;
    const TableName = environment.USERS_TABLE ?? '';
    const token = await logIn(api, service.admin);
    const users = await times(25, () => register(api));
    // Without the sessions of the registration, each login notes that its user is here.
    const client = engineClient(inject('engine'));
    for (const { id } of users) {
      for (const pk of [`sessions#${id}`, `seen#${id}`]) {
        await client.send(new DeleteCommand({ TableName, Key: { pk } }));
      }
    }

    const answers = await Promise.all(
      users.flatMap((user) => [
        api('POST', '/api/login', { json: user }),
        api('DELETE', `/api/users/${user.id}`, { token }),
      ]),
    );

    expect(count(answers, 204)).toBe(users.length);
    expect(count(answers, 200) + count(answers, 404)).toBe(users.length);
    const listed: number[] = [];
    let path: string | undefined = '/api/users?limit=10&seenBefore=9999-12-31';
    while (path !== undefined) {
      const page = await api('GET', path, { token });
      expect(page.status).toBe(200);
      listed.push(...page.body.map(({ id }: { id: number }) => id));
      path = nextPage(page);
    }
    const stored = new Set((await scan(inject('engine'), TableName)).map(({ pk }) => String(pk)));
    const seen = [...stored].filter((pk) => pk.startsWith('seen#')).map((pk) => pk.slice(5));
    expect(seen.filter((id) => !stored.has(`user#${id}`))).toEqual([]);
    expect(listed.map(String).sort()).toEqual(seen.sort());
    await service.stop();
  });
});

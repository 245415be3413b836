import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { exceedsNoticeLimit } from '../../../lib/limits/sources.ts';
import { useOwnTables } from '../../support/own-tables.ts';
import { scan } from '../../support/stored-items.ts';

let table: string;
beforeAll(async () => {
  ({ users: table } = await useOwnTables());
});

describe('Mails that nobody asked for', () => {
  const start = Date.parse('2026-11-21T12:00:00Z');
  const send = (user_id: number, minute: number, email: string = randomUUID()) =>
    exceedsNoticeLimit(
      { email, user_id, request_id: randomUUID() },
      { now: new Date(start + 60_000 * minute) },
    );

  it('are limited to ten an hour for an account, whatever its addresses', async () => {
    const exceeded: boolean[] = [];
    for (let i = 0; i < 10; i += 1) exceeded.push(await send(1, 6 * i));
    exceeded.push(await send(1, 59), await send(2, 59), await send(1, 60));

    expect(exceeded).toEqual([...Array(10).fill(false), true, false, false]);
  });

  it('leave an item for each hour that DynamoDB deletes afterwards', async () => {
    await send(3, 10);

    const item = (await scan(inject('engine'), table)).find(
      ({ pk }) => pk === `attempts#notice#user#3#${start / 3_600_000}`,
    );

    expect(item?.expires_at).toBe(start / 1000 + 600 + 3600);
  });

  it('are limited to ten in 15 minutes for an address, in any letter case', async () => {
    const exceeded: boolean[] = [];
    for (let i = 0; i < 10; i += 1) exceeded.push(await send(100 + i, i, 'ada@example.org'));
    exceeded.push(await send(200, 9, 'ADA@example.org'), await send(201, 9));

    expect(exceeded).toEqual([...Array(10).fill(false), true, false]);
  });
});

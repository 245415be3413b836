import { randomUUID } from 'node:crypto';
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { type Action, type AuditEntry, makeEntry } from '../../../lib/audit/entry.ts';
import { indexKeys } from '../../../lib/audit/index-keys.ts';
import { type AuditFilter, listEntries, shown } from '../../../lib/audit/query.ts';
import { insertEntry, timeToLive, toItem, writeEntry } from '../../../lib/audit/record.ts';
import { useOwnTables } from '../../support/own-tables.ts';
import { scanAudit } from '../../support/stored-items.ts';

let table: string;
beforeAll(async () => {
  ({ audit: table } = await useOwnTables());
});

/** The most pages of a list in these tests. */
const maxPages = 300;

const readAll = async (filter: AuditFilter, limit: number): Promise<readonly AuditEntry[]> => {
  const found: AuditEntry[] = [];
  let after: string | undefined;
  for (let pages = 0; pages < maxPages; pages += 1) {
    const page = await listEntries(filter, { limit, order: 'desc', after });
    found.push(...page.entries);
    after = page.next;
    if (after === undefined) return found;
  }
  throw new Error('The list has no end');
};

const newestFirst = (a: AuditEntry, b: AuditEntry) =>
  a.created_at === b.created_at ? b.id - a.id : a.created_at < b.created_at ? 1 : -1;

const entryOf = (action: Action) => makeEntry({ action, resource: 'users', result: 'SUCCESS' });

describe('insertEntry', () => {
  const entry = () => entryOf('EXPORT');

  it('writes an entry once, however often it is called with the same write id', async () => {
    const [written, writeId] = [entry(), randomUUID()];

    const answers = [
      await insertEntry(written, { writeId }),
      await insertEntry(written, { writeId }),
    ];

    expect(answers).toEqual([true, true]);
    const stored = await scanAudit(inject('engine'), table);
    expect(stored.filter(({ id }) => id === written.id)).toHaveLength(1);
  });

  it('writes a time to live if there is one, and otherwise no further attribute', () => {
    const [written, writeId] = [entry(), randomUUID()];
    const item = toItem(written, { writeId });

    expect(Object.keys(item)).not.toContain('expires_at');
    expect(toItem(written, { writeId, ...timeToLive(written, 0) })).toEqual(item);
    expect(toItem(written, { writeId, ...timeToLive(written, 30) })).toEqual({
      ...item,
      expires_at: Math.floor(Date.parse(written.created_at) / 1000) + 30 * 86_400,
    });
  });

  it('returns false for the id of another entry, and does not overwrite that entry', async () => {
    const first = entry();
    await insertEntry(first, { writeId: randomUUID() });
    const second = { ...first, action: 'CREATE' as const };

    expect(await insertEntry(second, { writeId: randomUUID() })).toBe(false);
    const stored = await scanAudit(inject('engine'), table);
    expect(stored.filter(({ id }) => id === first.id)).toMatchObject([{ action: 'EXPORT' }]);
  });
});

describe('The index keys of an entry', () => {
  it('spread entries evenly over all shards, even if the entries differ only in their ids', () => {
    const login = entryOf('LOGIN');
    const items: readonly Readonly<Record<string, unknown>>[] = Array.from(
      { length: 800 },
      (_, id) => toItem({ ...login, result: 'FAILURE', id }, { writeId: 'w' }),
    );

    for (const key of ['shard', 'action_shard', 'failure_shard']) {
      const counts = Object.values(Object.groupBy(items, (item) => String(item[key])));
      expect(counts.map((same) => same?.length)).toEqual(Array(8).fill(100));
    }
  });

  it('do not include a key by user where nobody is known to have acted', () => {
    const item = toItem(entryOf('LOGIN'), { writeId: 'w' });

    expect(item).not.toHaveProperty('user_key');
    expect(item).not.toHaveProperty('user_action');
  });
});

describe('The index keys of an entry that a machine posted', () => {
  it('begin with m in each index that has entries of the service, and name the resource in its own', () => {
    const entry = { ...entryOf('CREATE'), id: 4096 + 3, user_id: 5, resource_id: '7' };
    const posted = { ...entry, resource: 'shop.orders', result: 'FAILURE' as const };

    expect(indexKeys(posted)).toEqual({
      created_at_id: `${entry.created_at}#0000000000004099`,
      shard: 'm3',
      action_shard: 'CREATE#m3',
      user_key: 'm5',
      user_action: 'm5#CREATE',
      resource_key: 'mshop.orders#7',
      failure_shard: 'm3',
      resource_shard: 'shop.orders#3',
    });
  });

  it('are the same without the keys of fields that the entry does not have', () => {
    const posted = { ...entryOf('READ'), id: 8, resource: 'shop.orders' };

    expect(indexKeys(posted)).toEqual({
      created_at_id: `${posted.created_at}#0000000000000008`,
      shard: 'm0',
      action_shard: 'READ#m0',
      resource_shard: 'shop.orders#0',
    });
  });

  it('follow from the dot in the resource alone, and not from a machine that acted', () => {
    const entry = { ...entryOf('CREATE'), user_id: 5, resource_id: '7' };

    expect(indexKeys({ ...entry, machine_id: 3 })).toEqual(indexKeys(entry));
  });
});

describe('writeEntry', () => {
  it('writes 500 entries at once under 500 ids, and all can be read', async () => {
    const userId = 77;
    let begun = 0;
    const work = async () => {
      while (begun < 500) {
        begun += 1;
        const action = { action: 'UPDATE', user_id: userId, resource_id: begun } as const;
        const entry = makeEntry({ ...action, resource: 'users', result: 'SUCCESS' });
        await writeEntry(entry, { writeId: randomUUID() });
      }
    };

    await Promise.all(Array.from({ length: 16 }, work));

    const found = await readAll({ userId }, 100);
    expect(found).toHaveLength(500);
    expect(new Set(found.map(({ id }) => id)).size).toBe(500);
    expect(new Set(found.map(({ resource_id }) => resource_id)).size).toBe(500);
    expect(found.every(({ id }) => Number.isSafeInteger(id))).toBe(true);
    expect(found).toEqual(found.toSorted(newestFirst));
  });

  it('writes the entry under another id when its id is taken', async () => {
    const entry = makeEntry({ action: 'LOGOUT', resource: 'users', result: 'SUCCESS' });
    const [first, second] = [randomUUID(), randomUUID()];

    await writeEntry(entry, { writeId: first });
    await writeEntry({ ...entry, resource: 'others' }, { writeId: second });
    await writeEntry({ ...entry, resource: 'others' }, { writeId: second });

    const found = await readAll({ action: 'LOGOUT' }, 100);
    const sameTime = found.filter(({ created_at }) => created_at === entry.created_at);
    expect(sameTime.map(({ resource }) => resource).sort()).toEqual(['others', 'users']);
  });
});

const bytes = Uint8Array.of(0, 255, 16);

describe('shown', () => {
  it.each<[AttributeValue | undefined, unknown]>([
    [undefined, null],
    [{ NULL: true }, null],
    [{ S: '' }, ''],
    [{ S: '\ud83d\ude00 "x"' }, '\ud83d\ude00 "x"'],
    [{ N: '17' }, 17],
    [{ N: '-17' }, -17],
    [{ N: '-1.5' }, -1.5],
    [{ N: '9007199254740991' }, 9007199254740991],
    [{ N: '9007199254740992' }, '9007199254740992'],
    [{ N: '12345678901234567890' }, '12345678901234567890'],
    [{ N: '-9007199254740993' }, '-9007199254740993'],
    [{ N: '0.1234567890123456789' }, '0.1234567890123456789'],
    [{ N: '1E+100' }, '1E+100'],
    [{ BOOL: false }, '{"BOOL":false}'],
    [{ B: bytes }, '{"B":"AP8Q"}'],
    [{ L: [{ S: 'a' }, { B: bytes }] }, '{"L":[{"S":"a"},{"B":"AP8Q"}]}'],
  ])('shows %j as %j', (value, expected) => {
    expect(shown(value)).toBe(expected);
  });
});

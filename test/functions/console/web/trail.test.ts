import { describe, expect, it } from 'vitest';
import type { AuditEntry } from '../../../../functions/client/paths.ts';
import { ago, localDay, localTime, utcTime } from '../../../../functions/console/web/format.ts';
import { agentWord, readableAgent } from '../../../../functions/console/web/trail/agent.ts';
import { merge, mostEntries, rereadFrom } from '../../../../functions/console/web/trail/follow.ts';
import { groupsOf, passes } from '../../../../functions/console/web/trail/groups.ts';
import { happened } from '../../../../functions/console/web/trail/happened.ts';
import {
  barsOf,
  narrowed,
  spanOf,
  topOf,
} from '../../../../functions/console/web/trail/histogram.ts';
import { keepPassing } from '../../../../functions/console/web/trail/keep.ts';
import { changesRights } from '../../../../functions/console/web/trail/overview.ts';
import {
  fromLocal,
  parametersOf,
  readState,
  secondsBefore,
  toLocal,
  withChanges,
} from '../../../../functions/console/web/trail/query.ts';
import { standingsOf } from '../../../../functions/console/web/trail/standing.ts';

const noon = Date.UTC(2026, 10, 22, 12);
const entry = (id: number, seconds = 0, result: AuditEntry['result'] = 'SUCCESS') =>
  ({ id, result, created_at: new Date(noon + seconds * 1000).toISOString() }) as AuditEntry;

describe('The query of the trail', () => {
  it.each([
    [
      { userId: '17', action: 'LOGIN', since: '2026-11-22T12:00:00.000Z' },
      { userId: 17, action: 'LOGIN', since: '2026-11-22T12:00:00.000Z' },
    ],
    [
      { userId: '0', resourceId: '0', unknown: '1', follow: 'on' },
      { userId: 0, resourceId: '0' },
    ],
    [{ userId: 'x' }, { userId: Number.NaN }],
    [{ about: '7', reason: 'wrong_code' }, { about: 7 }],
    [{ userId: 'none', ipAddress: 'none', action: 'LOGIN' }, { action: 'LOGIN' }],
    [{}, {}],
  ])('has the parameters of the address bar that the service knows: %j', (query, parameters) => {
    expect(parametersOf(readState(query))).toEqual(parameters);
  });

  it.each([
    [{ follow: 'on', until: 'u' }, {}, { follow: '', until: 'u' }],
    [{ until: 'u', order: 'asc' }, { follow: 'on' }, { follow: 'on', until: '', order: '' }],
    [{ follow: 'on' }, { order: 'asc' }, { follow: '', order: 'asc' }],
    [{ follow: 'on' }, { since: 's' }, { follow: 'on', since: 's' }],
    [
      { follow: 'on', reason: 'r' },
      { group: 'action' },
      { follow: '', group: 'action', reason: '' },
    ],
    [{ group: 'action' }, { follow: 'on' }, { follow: 'on', group: '' }],
    [{ userId: '1', resourceId: '2' }, { about: '3' }, { userId: '', resourceId: '', about: '3' }],
    [{ about: '3' }, { userId: '1' }, { userId: '1', about: '' }],
    [{ about: '3', userId: '1' }, {}, { userId: '1', about: '' }],
    [{ action: 'CREATE', only: 'registrations' }, {}, { only: 'registrations' }],
    [{ action: 'CREATE', only: 'registrations' }, { action: 'LOGIN' }, { only: '' }],
    [{ action: 'CREATE', only: 'anything' }, {}, { only: '' }],
  ] as const)(
    'drops a filter that does not go together with a later filter: %j, then %j',
    (query, changes, after) => {
      expect(withChanges(readState(query), changes)).toMatchObject(after);
    },
  );

  it('converts times between the address bar and local time without losing milliseconds', () => {
    for (const time of ['2026-11-22T12:00:00.000Z', '2026-06-01T00:00:00.007Z']) {
      expect(fromLocal(toLocal(time))).toBe(time);
    }
    expect([toLocal('x'), fromLocal('x')]).toEqual(['', '']);
    expect(fromLocal('2026-11-22T12:00', 'x')).toBe(fromLocal('2026-11-22T12:00'));
    expect(secondsBefore(noon + 999, 3600)).toBe('2026-11-22T11:00:00.000Z');
  });
});

it('The later of two times that are equal in local time is kept until the user changes it', () => {
  // As on clocks in Berlin; the tests pass in any other time zone too.
  const [first, second] = ['2026-10-25T00:30:00.000Z', '2026-10-25T01:30:00.000Z'];
  const zone = process.env.TZ;
  try {
    process.env.TZ = 'Europe/Berlin';
    expect([toLocal(first), toLocal(second)]).toEqual(Array(2).fill('2026-10-25T02:30:00'));

    // Browsers leave out seconds that are 0.
    expect(fromLocal('2026-10-25T02:30', second)).toBe(second);
    expect(fromLocal('2026-10-25T02:30', first)).toBe(first);
    expect(fromLocal('2026-10-25T02:31', second)).toBe('2026-10-25T00:31:00.000Z');
    expect(fromLocal(second, second)).toBe(second);
  } finally {
    if (zone === undefined) delete process.env.TZ;
    else process.env.TZ = zone;
  }
});

describe('Following', () => {
  it('puts each new entry at its place, once', () => {
    const found = [entry(5, 3), entry(3, 3), entry(2, 2)];

    const { data, isFull } = merge({ data: [entry(3, 3), entry(1, 1)], isFull: false }, found);

    expect([data.map(({ id }) => id), isFull]).toEqual([[5, 3, 2, 1], false]);
  });

  it('keeps only the newest entries, up to the allowed number, and then says that there are more', () => {
    const many = Array.from({ length: mostEntries }, (_, id) => entry(id, id));
    const newest = entry(mostEntries, mostEntries);

    const { data, isFull } = merge({ data: many, isFull: false }, [newest]);

    expect([data.length, data[0]?.id, data.at(-1)?.id]).toEqual([mostEntries, mostEntries, 1]);
    expect(isFull).toBe(true);
  });

  it('reads again from a minute before the newest entry, but not from before the start of the query', () => {
    const [minuteBefore, later] = ['2026-11-22T11:59:00.000Z', '2026-11-22T11:59:30.000Z'];

    expect(rereadFrom([entry(2), entry(1, -9)], '')).toBe(minuteBefore);
    expect(rereadFrom([entry(2)], later)).toBe(later);
    expect(rereadFrom([], '')).toBe('');
  });
});

describe('The histogram', () => {
  it.each([
    ['no entries', [], 0],
    ['one entry', [0], 1],
    ['half a minute', [0, 29], 30],
    ['half a minute and a second', [0, 30], 7],
    ['half an hour', [0, 1799], 30],
    ['a day', [0, 86_400], 25],
    ['a month', [0, 30 * 86_400], 16],
    ['ten years', [0, 3650 * 86_400], 30],
  ] as const)('has at most thirty bars that begin at round times: %s', (_, seconds, count) => {
    const entries = seconds.map((second) => entry(1, second));
    const bars = barsOf(entries);

    expect(bars).toHaveLength(count);
    expect(bars.reduce((sum, { success }) => sum + success, 0)).toBe(entries.length);
  });

  it('has bars between the bounds of the query even without entries', () => {
    const bars = barsOf([], () => 0, { from: noon - 7 * 86_400_000, until: noon });

    expect(bars).toHaveLength(29);
    expect(bars.every(({ success, failure }) => success + failure === 0)).toBe(true);
  });

  it.each([
    [0, 2],
    [1, 2],
    [3, 4],
    [4, 4],
    [9, 10],
    [11, 20],
    [25, 30],
    [100, 100],
    [410, 500],
    [8001, 10_000],
  ])('has an axis for %d entries whose top is %d', (most, top) => {
    expect(topOf(most)).toBe(top);
  });

  it('counts entries by result, and begins days at midnight in local time', () => {
    const entries = [entry(1), entry(2, 40 * 86_400, 'FAILURE'), entry(3, 1)];
    const bars = barsOf(entries, () => -5.5 * 3600);

    expect(bars[0]).toMatchObject({ from: '2026-11-20T18:30:00.000Z', success: 2 });
    expect(bars.at(-1)).toMatchObject({ success: 0, failure: 1 });
  });
});

/** Seconds by which a clock is behind UTC in 2026: in Berlin and New York in autumn, and in Berlin in spring. */
const berlin = (time: number) => (time < Date.UTC(2026, 9, 25, 1) ? -7200 : -3600);
const newYork = (time: number) => (time < Date.UTC(2026, 10, 1, 6) ? 14_400 : 18_000);
const spring = (time: number) => (time < Date.UTC(2026, 2, 29, 1) ? -3600 : -7200);
/** In Chile clocks are changed at midnight: forward, so that the day begins at one o'clock, and back. */
const chile = (time: number) =>
  time >= Date.UTC(2026, 3, 5, 3) && time < Date.UTC(2026, 8, 6, 4) ? 14_400 : 10_800;

describe('Bars of days across a change of clocks', () => {
  it.each([
    ['autumn in Berlin', berlin, '2026-10-10T12:00:00.000Z', '2026-10-24T21:59:59.999Z', [22, 23]],
    ['spring in Berlin', spring, '2026-03-10T12:00:00.000Z', '2026-03-28T22:59:59.999Z', [23, 22]],
    ['New York', newYork, '2026-10-20T12:00:00.000Z', '2026-11-01T03:59:59.999Z', [4, 5]],
    ['spring in Chile', chile, '2026-08-20T12:00:00.000Z', '2026-09-06T03:59:59.999Z', [4, 3]],
    ['autumn in Chile', chile, '2026-03-20T12:00:00.000Z', '2026-04-05T03:59:59.999Z', [3, 4]],
  ] as const)(
    'begin at midnight, and count each entry in its day: %s',
    (_, behindAt, first, lastOfDay, hours) => {
      const dayAfter = new Date(Date.parse(lastOfDay) + 1).toISOString();
      const end = new Date(Date.parse(dayAfter) + 10 * 86_400_000).toISOString();
      const at = (created_at: string) => ({ ...entry(1), created_at });

      const bars = barsOf([first, lastOfDay, dayAfter, end].map(at), behindAt);

      const counting = bars.filter(({ success }) => success > 0);
      expect(counting.map(({ success }) => success)).toEqual([1, 1, 1, 1]);
      expect([counting[1]?.until, counting[2]?.from]).toEqual([dayAfter, dayAfter]);
      expect([bars[0], bars.at(-1)].map((bar) => new Date(bar?.from ?? '').getUTCHours())).toEqual(
        hours,
      );
      expect(bars.slice(1).map(({ from }) => from)).toEqual(
        bars.slice(0, -1).map(({ until }) => until),
      );
    },
  );
});

describe('A bar that is opened', () => {
  it('finds exactly the entries that it counts', () => {
    const entries = [entry(2, 100), entry(1, 10)];
    const [first, ...rest] = barsOf(entries);
    const last = rest.at(-1);
    const whole = { from: '2026-01-01T00:00:00.000Z', until: '2027-01-01T00:00:00.000Z' };

    expect(first && narrowed(first, entries)).toEqual({
      since: '2026-11-22T12:00:10.000Z',
      until: first?.until,
    });
    expect(last && narrowed(last, entries)).toEqual({
      since: last?.from,
      until: '2026-11-22T12:01:40.001Z',
    });
    expect(narrowed({ ...whole, success: 2, failure: 0 }, entries)).toEqual(spanOf(entries));
    expect(spanOf([{ ...entry(1), created_at: 'no time' }])).toEqual({ since: '', until: '' });
  });
});

describe('An export', () => {
  const state = readState({ reason: 'wrong_code' });
  const other = { ...entry(1), details: '{"reason":"no_token"}', user_agent: 'a "b", c\r\nd' };
  const kept = { ...other, id: 2, details: '{"reason":"wrong_code","odd":"\\"\\n"}' };
  const lines = [other, kept].map((each) => `${JSON.stringify(each)}\n`);
  const quote = (value: unknown) => `"${String(value).replaceAll('"', '""')}"`;
  const record = (each: typeof other) =>
    `${each.id},${quote(each.user_agent)},${quote(each.details)},\r\n`;
  const head = 'id,user_agent,details,user_id\r\n';

  it.each([
    ['ndjson', lines.join(''), lines[1]],
    ['csv', head + record(other) + record(kept), head + record(kept)],
  ] as const)(
    'keeps, as %s, only the entries that pass the filters of the console',
    (form, all, some) => {
      expect(keepPassing(all, form, state)).toBe(some);
      expect(keepPassing(all, form, readState({ userId: 'none', reason: 'wrong_code' }))).toBe(
        form === 'csv' ? some : keepPassing(all, form, state),
      );
      expect(keepPassing(all, form, readState({ action: 'LOGIN' }))).toBe(all);
    },
  );
});

describe('The history of a user', () => {
  const about = (id: number, action: string, details?: object) =>
    ({
      ...entry(id, id),
      action,
      user_id: id,
      resource: 'users',
      resource_id: '7',
      details: details ? JSON.stringify(details) : null,
    }) as AuditEntry;
  const change = (from: string, to: string) => ({ from, to });
  const said = (entries: readonly AuditEntry[], user?: { role: 'user' | 'admin'; email: string }) =>
    standingsOf(7, entries, user).map(({ values, from, until, by }) => [
      values.role,
      values.email,
      from.slice(17, 19),
      until.slice(17, 19),
      by,
    ]);

  it('is derived from the entries about the user, newest first', () => {
    const entries = [
      about(5, 'UPDATE', { fields: ['email'], email: change('a', 'b') }),
      about(4, 'LOGIN'),
      about(3, 'UPDATE', { fields: ['role'], role: change('user', 'admin') }),
      about(2, 'UPDATE', { fields: ['name'] }),
      about(1, 'CREATE', { email: 'a' }),
    ];

    expect(said(entries)).toEqual([
      ['admin', 'b', '05', '', 5],
      ['admin', 'a', '03', '05', 3],
      ['user', 'a', '01', '03', 1],
    ]);
    expect(said([about(9, 'DELETE'), ...entries])[0]).toEqual(['admin', 'b', '05', '09', 5]);
  });

  it('begins with the values before the first change, or with the present values if nothing has changed', () => {
    const promoted = about(3, 'UPDATE', { role: change('user', 'admin') });

    expect(said([promoted], { role: 'admin', email: 'c' })).toEqual([
      ['admin', 'c', '03', '', 3],
      ['user', 'c', '', '03', null],
    ]);
    expect(said([], { role: 'user', email: 'c' })).toEqual([['user', 'c', '', '', null]]);
  });
});

describe('The overview', () => {
  it.each([
    ['CREATE', { role: 'admin' }, true],
    ['CREATE', { name: 'Ada', email: 'ada@example.com', role: 'user' }, false],
    ['UPDATE', { fields: ['role'], role: { from: 'admin', to: 'user' } }, true],
    ['UPDATE', { auditor: { from: false, to: true } }, true],
    ['UPDATE', { suspended: false }, true],
    ['UPDATE', { fields: ['name'] }, false],
  ])('lists a %s with %j among changes of rights: %j', (action, details, isListed) => {
    const listed = { ...entry(1), action, details: JSON.stringify(details) } as AuditEntry;
    expect(changesRights(listed)).toBe(isListed);
  });
});

it.each([
  [{ action: 'CREATE', only: 'registrations' }, [1]],
  [{ action: 'CREATE' }, [1, 2, 3]],
])('The filter %j keeps these creations of users: %j', (query, kept) => {
  const created = (id: number, by: number | null, result: AuditEntry['result'] = 'SUCCESS') =>
    ({
      ...entry(id, 0, result),
      action: 'CREATE',
      resource: 'users',
      resource_id: '7',
      user_id: by,
    }) as AuditEntry;
  const entries = [created(1, 7), created(2, 1), created(3, null, 'FAILURE')];

  const found = entries.filter((each) => passes(each, readState(query)));

  expect(found.map(({ id }) => id)).toEqual(kept);
});

describe('Groups', () => {
  // biome-ignore format: a table
  it.each([
    ['userId', [['7', 2], ['none', 1]]],
    ['ipAddress', [['none', 3]]],
    ['action', [['LOGIN', 3]]],
    ['reason', [['wrong_code', 2], ['none', 1]]],
  ] as const)('are counted by %s, the largest first', (by, counts) => {
    const failed = { action: 'LOGIN', user_id: 7, details: '{"reason":"wrong_code"}' } as const;
    const entries = [
      { ...entry(1, 5, 'FAILURE'), ...failed },
      { ...entry(2), action: 'LOGIN' as const, user_id: null, details: null },
      { ...entry(3, 9), ...failed },
    ];

    const [first, ...rest] = groupsOf(entries, by);

    expect([first, ...rest].map((group) => [group?.value, group?.count])).toEqual(counts);
    expect(first).toMatchObject({ failures: 1, last: entries[2]?.created_at });
  });

  it('have a value even if a machine posts a reason that cannot become text', () => {
    const details = '{"reason":{"toString":1}}';

    const groups = groupsOf([{ ...entry(1), resource: 'shop.orders', details }], 'reason');

    expect(groups.map(({ value }) => value)).toEqual(['{"toString":1}']);
  });
});

it.each([
  [-1, 'just now'],
  [59_999, 'just now'],
  [60_000, '1 minute ago'],
  [7_199_999, '119 minutes ago'],
  [7_200_000, '2 hours ago'],
])('A time %i ms ago is shown as %s', (milliseconds, shown) => {
  expect(ago(milliseconds)).toBe(shown);
});

describe('A time in an entry', () => {
  it.each([
    ['2026-11-22T09:05:00.000Z', '2026-11-22 09:05:00 UTC'],
    ['not a time', 'not a time'],
    ['entry 1', 'entry 1'],
    ['2026-99-99', '2026-99-99'],
    ['', 'no time'],
  ])(
    'is shown in UTC, unchanged if it is not a time, and as "no time" if it is empty: %j',
    (value, shown) => {
      expect(utcTime(value)).toBe(shown);
      const isTime = shown.endsWith('UTC');
      if (!isTime) expect([localTime(value), localDay(value)]).toEqual([shown, shown]);
    },
  );

  it('that is not a time is ignored by the bars, and when following works out from where to read again', () => {
    const odd = { ...entry(9), created_at: 'not a time' };

    expect(barsOf([odd, entry(1)])).toEqual(barsOf([entry(1)]));
    expect(barsOf([odd])).toEqual([]);
    expect(rereadFrom([odd, entry(2)], '')).toBe('2026-11-22T11:59:00.000Z');
  });
});

describe('The trail on the screen', () => {
  it.each([
    [
      'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
      'Firefox 140 on Linux',
    ],
    [
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36 Edg/141.0.0.0',
      'Edge 141 on Windows',
    ],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1',
      'Safari 18 on iOS',
    ],
    [
      'Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Mobile Safari/537.36',
      'Chrome 141 on Android',
    ],
    ['curl/8.5.0', 'curl 8.5.0'],
    ['<img src=x onerror=alert(1)>', '<img src=x onerror=alert(1)>'],
    ['a', 'a'],
    [7, '7'],
  ])('names agents as people name them: %s', (agent, readable) => {
    expect(readableAgent(agent)).toBe(readable);
  });

  it.each([
    ['Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', 'Firefox'],
    ['Mozilla/5.0 (Linux; Android 15) SamsungBrowser/28.0 Chrome/130.0.0.0', 'Samsung Internet'],
    ['python-requests/2.32.3', 'python-requests'],
    ['x'.repeat(300), 'x'.repeat(20)],
    ['', ''],
    [7, '7'],
  ])('names agents in one short word: %s', (agent, word) => {
    expect(agentWord(agent)).toBe(word);
  });
});

describe('A short description of what happened', () => {
  const long = 'N'.repeat(100);

  // biome-ignore format: a table
  it.each([
    [null, ''],
    ['{"fields":["role"],"role":{"from":"user","to":"admin"}}', 'role: user → admin'],
    ['{"fields":["name","email"]}', 'name, email'],
    [`{"fields":["name"],"name":{"from":"A","to":"${long}"}}`, `name: A → ${'N'.repeat(40)}…`],
    ['{"fields":["password"],"by":"reset"}', 'password, by reset link'],
    ['{"fields":["email_verified"],"by":"verification"}', 'email verified, by mailed link'],
    ['{"fields":[],"by":"reset","requested":true}', 'reset link mailed'],
    ['{"fields":["email"],"requested":["email"]}', 'email, email waits for a link'],
    ['{"fields":["second_factor"],"second_factor":"removed"}', 'second factor removed'],
    ['{"fields":["recovery_codes"]}', 'recovery codes'],
    ['{"suspended":true}', 'suspended'],
    ['{"suspended":false}', 'suspension lifted'],
    ['{"reason":"wrong_password","waits_until":"2026"}', 'wrong password, a wait begins, until 2026'],
    ['{"scope":"others"}', 'all other sessions'],
    ['{"session":"x"}', 'one session'],
    ['{"role":"admin"}', 'role: admin'],
    ['{"format":"csv","filter":{"action":"LOGIN","order":"desc"},"entries":812}', 'csv, action=LOGIN, 812 entries'],
    ['{"error":"STORAGE_FAULT","outcome":"unknown"}', 'error: STORAGE_FAULT, may have been done'],
    ['{"operator":"ada","odd":[1]}', 'operator: ada, odd: [1]'],
    ['{"name":{"from":"Ada","to":"A, role: user → admin"}}', 'name: Ada → \u2068"A, role: user → admin"\u2069'],
    ['{"name":{"from":"A\\"B","to":"A B"}}', 'name: "A\\"B" → "A B"'],
    ['{"name":"\u202eA"}', 'name: "\\u202eA"'],
    ['{"fields":["attributes.plan","attributes.nick"],"attributes":{"plan":{"from":null,"to":"pro"}}}', 'nick, plan: unset → pro'],
    ['{"attributes":{"from":{"from":null,"to":"a"},"to":{"from":"b","to":"c"}}}', 'from: unset → a, to: b → c'],
    ['{"fields":["attributes.constructor"]}', 'constructor'],
    ['{"__proto__":1,"constructor":2,"toString":3}', '  proto  : 1, constructor: 2, toString: 3'],
    ['{"reason":{"toString":1},"by":{"toString":2}}', '{"toString":1}, by {"toString":2}'],
    ['{"fields":[{"toString":1}],"scope":[{"toString":2}]}', '{"toString":1}, {"toString":2}'],
    ['no JSON', ''],
    ['7', ''],
    ['null', ''],
  ])('for the details %s is “%s”', (details, words) => {
    expect(happened({ details })).toBe(words);
  });

  it('says to the second until when a wait lasts', () => {
    const details = '{"waits_until":"2026-11-22T12:00:37.000Z"}';

    expect(happened({ details })).toMatch(/^a wait begins, until .*:\d\d:37/);
  });
});

import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type AuditedAction, makeEntry } from '../../../lib/audit/entry.ts';
import { exportFormats, writePage } from '../../../lib/audit/formats.ts';
import type { AuditPage } from '../../../lib/audit/query.ts';

const entryWith = (fields: Partial<AuditedAction>, i = 0) =>
  makeEntry(
    { action: 'UPDATE', resource: 'users', result: 'SUCCESS', ...fields },
    { now: new Date(Date.UTC(2026, 10, 20) + i), random: () => i % 4096 },
  );

const pageOf = (entries: AuditPage['entries']): AuditPage => ({
  entries,
  next: 'the next page',
  nextAfter: (count) => `after ${count}`,
});

const csvOf = (fields: Partial<AuditedAction>) => {
  const { text } = writePage('csv', pageOf([entryWith(fields)]));
  return text.slice(text.indexOf('\r\n') + 2);
};

describe('writePage', () => {
  it('writes null as an empty value, and a header row even without entries', () => {
    const { id } = entryWith({});

    expect(csvOf({})).toBe(`${id},,UPDATE,users,,,,SUCCESS,,2026-11-20T00:00:00.000Z\r\n`);
    expect(writePage('csv', pageOf([])).text).toBe(
      'id,user_id,action,resource,resource_id,ip_address,user_agent,result,details,created_at\r\n',
    );
    expect(writePage('ndjson', pageOf([])).text).toBe('');
  });

  it('writes the machine of an entry and its time in CSV only where there are machines', () => {
    const entry = entryWith({ machine_id: 3, occurred_at: '2026-11-19T23:00:00.000Z' });
    const csv = () => writePage('csv', pageOf([entry, entryWith({})])).text.split('\r\n');

    onTestFinished(() => void vi.unstubAllEnvs());
    const without = csv();
    vi.stubEnv('MACHINES', 'on');
    const lines = csv();

    const added = ['machine_id,occurred_at', '3,2026-11-19T23:00:00.000Z', ','];
    expect(lines.slice(0, 3)).toEqual(without.slice(0, 3).map((line, i) => `${line},${added[i]}`));
  });

  it('writes a number unchanged', () => {
    expect(csvOf({ user_id: -1 })).toContain(',-1,UPDATE,');
  });

  it.each([
    // No spreadsheet runs this text as a formula, and it is read back unchanged.
    ['1=1', '1=1'],
    ['a - b', 'a - b'],
    [' =1', ' =1'],
    ["'=1", "'=1"],
    ['|=1', '|=1'],
    ['a "word"', '"a ""word"""'],
    ['é, 😀', '"é, 😀"'],
    ['two\r\nlines', '"two\r\nlines"'],
    ['two\rlines', '"two\rlines"'],
    ['X11; Linux', '"X11; Linux"'],
    ['a\tb', '"a\tb"'],
    // The text begins like a formula.
    ['=1+1', '"\'=1+1"'],
    ['+1', '"\'+1"'],
    ['-1', '"\'-1"'],
    ['@SUM(1)', '"\'@SUM(1)"'],
    ['＝1', '"\'＝1"'],
    ['=1,"2"', '"\'=1,""2"""'],
    ['"=1"', '"\'""=1"""'],
    // A spreadsheet may remove a tab or a CR.
    ['\ta', '"\'\ta"'],
    ['\t=1', '"\'\t\'=1"'],
    ['\r=1', '"\'\r\'=1"'],
    // The text contains a formula where some spreadsheets begin a cell or a row, even within quotes.
    ['Mozilla;=1+cmd|', '"Mozilla;\'=1+cmd|"'],
    ['a;"=1"', '"a;\'""=1"""'],
    ['a\t+1', '"a\t\'+1"'],
    ['a,-1', '"a,\'-1"'],
    ['a\n@b', '"a\n\'@b"'],
    ['a\r=1', '"a\r\'=1"'],
    ['a;b;=1;=2', '"a;b;\'=1;\'=2"'],
  ])('writes %j as the CSV value %j', (value, written) => {
    expect(csvOf({ user_agent: value })).toContain(`users,,,${written},SUCCESS,`);
    const readBack = written.replace(/^"(.*)"$/s, '$1').replaceAll('""', '"');
    expect(readBack.replaceAll("'", '')).toBe(value.replaceAll("'", ''));
  });

  it.each([
    ['csv', '"'],
    ['ndjson', '"'],
    ['csv', '\u0000'],
    ['ndjson', 'é'],
    ['json', '"'],
    ['json', '\u0000'],
  ] as const)(
    'ends a page of %s with entries full of %j below 4 MB of JSON, and returns the next position',
    (format, text) => {
      const long = text.repeat(1024);
      const fields = { user_agent: long, resource_id: text.repeat(100), details: long.repeat(5) };
      const entries = Array.from({ length: 1000 }, (_, i) => entryWith(fields, i));

      const written = writePage(format, pageOf(entries));

      const bytes = Buffer.byteLength(JSON.stringify(written.text));
      expect(bytes).toBeLessThanOrEqual(4_000_002);
      expect(bytes).toBeGreaterThan(3_800_000);
      const last = entries[written.count - 1];
      expect(written.next).toBe(`after ${written.count}`);
      expect(written.text).toContain(String(last?.id));
      expect(written.text).not.toContain(String(entries[written.count]?.id));
    },
  );

  it('writes the JSON of a response, with at least one entry, however long that entry is', () => {
    const entries = [entryWith({}, 0), entryWith({}, 1)];
    const [long] = [entryWith({ details: '"'.repeat(1_500_000) })];

    expect(writePage('json', pageOf(entries)).text).toBe(JSON.stringify({ data: entries }));
    expect(writePage('json', pageOf([])).text).toBe('{"data":[]}');
    expect(writePage('json', pageOf([long, ...entries])).count).toBe(1);
  });

  it.each([
    [1, 'a'],
    [1000, 'a'.repeat(1000)],
  ])('returns the next position of the list if the page has all %i entries', (count, details) => {
    const entries = Array.from({ length: count }, (_, i) => entryWith({ details }, i));
    for (const format of ['json', 'ndjson', 'csv'] as const) {
      const written = writePage(format, pageOf(entries));

      expect(written).toMatchObject({ count, next: 'the next page' });
    }
  });
});

it('An exported entry has the id of its request and the number of the file in which it is sealed', () => {
  const entry = { ...entryWith({}), request_id: 'a-request', file: 7 };
  const { csv, ndjson } = exportFormats;

  expect(csv.head).toMatch(/^id,user_id,.*,created_at,request_id,file,machine_id,occurred_at\r\n$/);
  expect(csv.line(entry)).toMatch(
    /^\d+,,UPDATE,users,,,,SUCCESS,,[-\d]+T[:.\d]+Z,a-request,7,,\r\n$/,
  );
  expect(csv.line({ ...entry, file: null })).toMatch(/,a-request,,,\r\n$/);
  expect(ndjson.head + ndjson.line(entry)).toBe(`${JSON.stringify(entry)}\n`);
});

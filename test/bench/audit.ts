/**
 * `npm run bench -- audit`: whether ids stay distinct when 10,000 audit entries are written at once;
 * what it costs to write one; then what a page of 100 entries costs at 1,000, 10,000 and 100,000
 * entries, by filters, and how it grows. On dynoxide, in memory; takes minutes, most of them to
 * write. `npm run bench -- audit 1000 10000` takes these sizes instead.
 */
import { DeleteTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createTables } from '../../infra/local/create-tables.ts';
import { startEngine } from '../../infra/local/engine.ts';
import type { Action } from '../../lib/audit/entry.ts';
import type { AuditFilter } from '../../lib/audit/store.ts';
import { type EngineProxy, startProxy } from '../support/proxy.ts';
import { scanAudit } from '../support/stored-items.ts';
import { writeBatches } from '../support/write-batches.ts';

const given = process.argv.slice(2).map(Number);
const sizes = given.length > 0 ? given : [1000, 10_000, 100_000];
/** At most this many times the cost at the smallest size counts as flat. */
const allowedGrowth = 1.2;
const page = 100;

/** When the i-th entry was made. */
const timeOf = (i: number) => new Date(Date.UTC(2026, 5, 1) + i);

/** Pages of a list whose mean counts, as far as the list has them. */
const maxPages = 10;

/** Entries that a request may read beyond what it returns, where no index answers its filter. */
const bound = 2000;

const queried = { userId: 1, action: 'EXPORT', resourceId: '7', result: 'FAILURE' } as const;

/**
 * Who did what to whom in the i-th entry. At every size, a filter that an index answers matches a
 * page or more, or one entry.
 */
type Distribution = (i: number) => {
  userId: number;
  action: Action;
  resourceId: number;
  result: 'SUCCESS' | 'FAILURE';
};

const distributions: Readonly<Record<string, Distribution>> = {
  even: (i) => ({
    userId: (i % 3) + 1,
    action: (['EXPORT', 'LOGIN', 'UPDATE'] as const)[Math.floor(i / 3) % 3] ?? 'EXPORT',
    resourceId: 5 + (i % 5),
    result: i % 4 === 0 ? 'FAILURE' : 'SUCCESS',
  }),
  // Half of all by one user, who has done the queried action once, before anything else; that was
  // the one failure, and the one thing that was done to the queried user.
  hostile: (i) => ({
    ...(i % 2 === 0
      ? { userId: queried.userId, action: i === 0 ? 'EXPORT' : 'LOGIN' }
      : { userId: 2 + (i % 20), action: i % 4 === 1 ? 'EXPORT' : 'CREATE' }),
    resourceId: i === 0 ? 7 : 1,
    result: i === 0 ? 'FAILURE' : 'SUCCESS',
  }),
};

const { userId, action, resourceId, result } = queried;
/** Half of the time in which the first thousand entries were made. */
const range = { since: timeOf(250).toISOString(), until: timeOf(750).toISOString() };

/** Filters that an index answers: they read what they return. */
const answered: Readonly<Record<string, AuditFilter>> = {
  none: {},
  userId: { userId },
  action: { action },
  resourceId: { resourceId },
  'result=FAILURE': { result },
  'userId, action': { userId, action },
  'since, until': range,
  'action, since, until': { action, ...range },
};

/** Filters that look for their entries among others. */
const sought: Readonly<Record<string, AuditFilter>> = {
  'result=SUCCESS': { result: 'SUCCESS' },
  'userId, result': { userId, result },
  'userId, resourceId': { userId, resourceId },
  'action, result': { action: 'LOGIN', result },
  'userId, action, result': { userId, action: 'LOGIN', result },
  'userId, action, result, resourceId': { userId, action: 'LOGIN', result, resourceId: '1' },
};

/** Of one page, in the mean. */
interface Cost {
  readonly units: number;
  readonly read: number;
  readonly answered: number;
}

/** A repeatable stand-in for the random tail of ids, which decides the shard. */
const makeRandom = () => {
  let state = 1;
  return (below: number) => {
    state = (state * 48_271) % 2_147_483_647;
    return Math.floor((state / 2_147_483_647) * below);
  };
};

const engine = await startEngine({ only: 'dynoxide' });
const proxy: EngineProxy = await startProxy(engine.endpoint, { measure: true });
Object.assign(process.env, {
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'local',
  AWS_SECRET_ACCESS_KEY: 'local',
  AWS_ENDPOINT_URL_DYNAMODB: proxy.url,
  AUDIT_TABLE: 'audit',
});
// Only now: what they import reads the environment.
const { makeEntry } = await import('../../lib/audit/entry.ts');
const { listEntries, toItem } = await import('../../lib/audit/store.ts');
const { writeEntry } = await import('../../lib/audit/record.ts');

/** The entries from the i-th to the n-th of a distribution. */
const itemsOf = (distribution: Distribution, from: number, to: number) => {
  const random = makeRandom();
  const items = Array.from({ length: to }, (_, i) => {
    const { userId, action, resourceId, result } = distribution(i);
    const entry = makeEntry(
      {
        user_id: userId,
        action,
        resource: 'users',
        resource_id: resourceId,
        result,
        ip_address: '192.0.2.1',
        user_agent: 'Mozilla/5.0 (X11; Linux x86_64)',
      },
      { now: timeOf(i), random },
    );
    return toItem(entry, { writeId: String(i) });
  });
  return items.slice(from);
};

const costOf = async (filter: AuditFilter): Promise<Cost> => {
  proxy.forget();
  let spent = { units: 0, entries: 0 };
  let [pages, answered, after]: [number, number, string | undefined] = [0, 0, undefined];
  do {
    const before = proxy.consumed.entries;
    const { entries, next } = await listEntries(filter, { limit: page, after });
    const read = proxy.consumed.entries - before;
    if (read > bound) throw new Error(`A request has read ${read} entries`);
    // A last page that is not full would make the mean look better than it is.
    if (pages > 0 && next === undefined) break;
    [pages, answered, after] = [pages + 1, answered + entries.length, next];
    spent = { ...proxy.consumed };
  } while (after !== undefined && pages < maxPages);
  return { units: spent.units / pages, read: spent.entries / pages, answered: answered / pages };
};

/** One table after the other under one name: lib reads its settings once. */
const emptyTable = async (): Promise<void> => {
  const client = new DynamoDBClient({ endpoint: engine.endpoint });
  await client.send(new DeleteTableCommand({ TableName: 'audit' })).catch(() => undefined);
  client.destroy();
  await createTables(engine.endpoint, { users: 'users', audit: 'audit' });
};

const filters = { ...answered, ...sought };

const measure = async (distribution: Distribution): Promise<Map<string, Cost[]>> => {
  const costs = new Map<string, Cost[]>(Object.keys(filters).map((name) => [name, []]));
  await emptyTable();
  let written = 0;
  for (const n of sizes) {
    await writeBatches(engine.endpoint, 'audit', itemsOf(distribution, written, n));
    written = n;
    for (const [name, filter] of Object.entries(filters)) {
      costs.get(name)?.push(await costOf(filter));
    }
  }
  return costs;
};

const row = (cells: readonly (string | number)[]) => console.log(`| ${cells.join(' | ')} |`);

const cellOf = ({ units, read, answered }: Cost): string =>
  [units, read, answered, read / answered]
    .map((mean) => (Number.isFinite(mean) ? mean.toFixed(1) : '–'))
    .join(', ');

const benchQueries = async (): Promise<void> => {
  const ofSizes = sizes.map((n) => `${n.toLocaleString('en')}: units, read, returned, read each`);
  row(['distribution', 'filter', ...ofSizes, 'growth of units', 'growth of read']);
  row(Array.from({ length: sizes.length + 4 }, () => '---'));
  for (const [name, distribution] of Object.entries(distributions)) {
    for (const [filter, costs] of await measure(distribution)) {
      const [first, last] = [costs[0], costs.at(-1)];
      const growth = (of: 'units' | 'read') => Number(last?.[of]) / Number(first?.[of]);
      const growths = [growth('units'), growth('read')];
      const cells = [...costs.map(cellOf), ...growths.map((factor) => factor.toFixed(2))];
      row([name, filter, ...cells]);
      // What is sought is bounded by itself: see costOf.
      const isFlat = growths.every((factor) => factor <= allowedGrowth);
      if (filter in answered && !isFlat) process.exitCode = 1;
    }
  }
};

/** What it costs to write an entry, as far as its indexes are concerned. */
const benchWrites = async (): Promise<void> => {
  await emptyTable();
  for (const result of ['SUCCESS', 'FAILURE'] as const) {
    proxy.forget();
    const fields = { user_id: 1, resource_id: 1, resource: 'users', result };
    const entry = makeEntry({ action: 'LOGIN', ...fields });
    await writeEntry(entry, { writeId: result });
    console.log(`An entry of ${result}: ${proxy.consumed.units} write units.`);
  }
};

const recorded = 10_000;
const connections = 16;

const benchIds = async (): Promise<void> => {
  await emptyTable();
  let begun = 0;
  const work = async () => {
    while (begun < recorded) {
      begun += 1;
      const entry = makeEntry({ action: 'UPDATE', resource: 'users', result: 'SUCCESS' });
      await writeEntry(entry, { writeId: String(begun) });
    }
  };
  await Promise.all(Array.from({ length: connections }, work));
  const ids = new Set((await scanAudit(engine.endpoint, 'audit')).map(({ id }) => id));
  console.log(`${recorded} entries written at once: ${ids.size} distinct ids.\n`);
  if (ids.size !== recorded) process.exitCode = 1;
};

try {
  await benchIds();
  await benchWrites();
  await benchQueries();
} finally {
  await proxy.stop();
  await engine.stop();
}

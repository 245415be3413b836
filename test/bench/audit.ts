/**
 * `npm run bench -- audit`: what it costs to write an audit entry, and what a page of 100 entries costs
 * at 1,000, 10,000 and 100,000 entries, by filters, half of the entries by one user. On dynoxide, in
 * memory; takes minutes, most of them to write. `npm run bench -- audit 1000 10000` takes these sizes
 * instead. It fails where a filter that an index answers costs more in a larger table, or a request
 * reads more than 2,000 entries.
 */
import { createTables } from '../../infra/local/create-tables.ts';
import { startEngine } from '../../infra/local/engine.ts';
import type { AuditFilter } from '../../lib/audit/query.ts';
import { startProxy } from '../support/proxy.ts';
import { writeBatches } from '../support/write-batches.ts';
import { row } from './statistics.ts';

const given = process.argv.slice(2).map(Number);
const sizes = given.length > 0 ? given : [1000, 10_000, 100_000];
/** At most this many times the cost at the smallest size counts as flat. */
const allowedGrowth = 1.2;
/** Pages of a list whose mean counts, as far as the list has them. */
const maxPages = 10;
const mostRead = 2000;

const userId = 1;
const range = { since: '2026-06-01T00:00:00.250Z', until: '2026-06-01T00:00:00.750Z' };

/** Filters that an index answers: they read what they return. */
const answered: Readonly<Record<string, AuditFilter>> = {
  none: {},
  userId: { userId },
  action: { action: 'EXPORT' },
  resourceId: { resourceId: '7' },
  about: { about: userId },
  'result=FAILURE': { result: 'FAILURE' },
  // There is one entry, the oldest of all.
  'userId, action': { userId, action: 'EXPORT' },
  'action, since, until': { action: 'LOGIN', ...range },
};

/** Filters that look for their entries among others. */
const sought: Readonly<Record<string, AuditFilter>> = {
  'result=SUCCESS': { result: 'SUCCESS' },
  ipAddress: { ipAddress: '192.0.2.9' },
  'userId, result': { userId, result: 'FAILURE' },
  'userId, action, result': { userId, action: 'LOGIN', result: 'FAILURE' },
};

const engine = await startEngine({ only: 'dynoxide' });
const proxy = await startProxy(engine.endpoint, { measure: true });
Object.assign(process.env, {
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'local',
  AWS_SECRET_ACCESS_KEY: 'local',
  AWS_ENDPOINT_URL_DYNAMODB: proxy.url,
  AUDIT_TABLE: 'audit',
});
// Only now: what they import reads the environment.
const { makeEntry } = await import('../../lib/audit/entry.ts');
const { listEntries } = await import('../../lib/audit/query.ts');
const { toItem } = await import('../../lib/audit/record.ts');
const { writeEntry } = await import('../../lib/audit/record.ts');

const itemOf = (i: number) => {
  const isFirst = i === 0;
  const entry = makeEntry(
    {
      resource: 'users',
      ip_address: '192.0.2.1',
      user_agent: 'Mozilla/5.0 (X11; Linux x86_64)',
      user_id: i % 2 === 0 ? userId : 2 + (i % 20),
      action: i % 2 === 0 && !isFirst ? 'LOGIN' : 'EXPORT',
      resource_id: isFirst ? 7 : 1,
      result: isFirst ? 'FAILURE' : 'SUCCESS',
    },
    { now: new Date(Date.UTC(2026, 5, 1) + i), random: (below) => (i * 7919) % below },
  );
  return toItem(entry, { writeId: String(i) });
};

/** Read units and entries of one page, in the mean. */
const costOf = async (filter: AuditFilter): Promise<readonly [units: number, read: number]> => {
  let spent: readonly [number, number] = [0, 0];
  let [pages, after]: [number, string | undefined] = [0, undefined];
  do {
    proxy.forget();
    const { next } = await listEntries(filter, { limit: 100, after });
    const { units, entries } = proxy.consumed;
    if (entries > mostRead) throw new Error(`A request has read ${entries} entries`);
    // A last page that is not full would make the mean look better than it is.
    if (pages > 0 && next === undefined) break;
    spent = [spent[0] + units, spent[1] + entries];
    [pages, after] = [pages + 1, next];
  } while (after !== undefined && pages < maxPages);
  return [spent[0] / pages, spent[1] / pages];
};

try {
  await createTables(engine.endpoint, { users: 'users', audit: 'audit' });
  const costs = new Map<string, (readonly [number, number])[]>();
  let written = 0;
  for (const size of sizes) {
    const items = Array.from({ length: size - written }, (_, i) => itemOf(written + i));
    await writeBatches(engine.endpoint, 'audit', items);
    written = size;
    for (const [name, filter] of Object.entries({ ...answered, ...sought })) {
      costs.set(name, [...(costs.get(name) ?? []), await costOf(filter)]);
    }
  }
  console.log(row(['page of 100', ...sizes.flatMap((size) => [`${size}: units`, 'read'])]));
  for (const [name, all] of costs) {
    console.log(row([name, ...all.flat()]));
    const [first = [], last = []] = [all[0], all.at(-1)];
    const grows = last.some((cost, i) => cost > allowedGrowth * Number(first[i]));
    if (name in answered && grows) process.exitCode = 1;
  }
  for (const result of ['SUCCESS', 'FAILURE'] as const) {
    proxy.forget();
    const fields = { user_id: 1, resource_id: 1, resource: 'users', result };
    await writeEntry(makeEntry({ action: 'LOGIN', ...fields }), { writeId: result });
    console.log(`An entry of ${result}: ${proxy.consumed.units} write units.`);
  }
} finally {
  await proxy.stop();
  await engine.stop();
}

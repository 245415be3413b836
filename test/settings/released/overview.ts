/** Lists and exports that show an admin all stored data, before anybody changes the data. */
import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { readPages } from '../../support/acceptance.ts';
import { asAdmin, entriesAt, idsOf, inFolder, type Listed, row, shown } from './stored-kinds.ts';

export const overview = row({
  store: async (service) => {
    const until = encodeURIComponent(new Date(Date.now() + 1000).toISOString());
    const path = `/api/admin/audit-logs?until=${until}`;
    const pages = await readPages(service.api, '/api/users', { token: service.adminToken });
    const users = pages.flatMap(({ answer }) => answer.body);
    const [, { id }] = users;
    const found: Record<string, Listed> = {};
    for (const query of queries(id)) found[path + query] = await entriesAt(service, path + query);
    const lines = { accept: 'application/x-ndjson' };
    const csv = { accept: 'text/csv' };
    const files = inFolder(service);
    await service.operate(['export-users', files('users.ndjson')]);
    return {
      users,
      details: await Promise.all(users.map((user) => shown(service, user.id))),
      entries: found[path] ?? [],
      ids: Object.fromEntries(Object.entries(found).map(([query, list]) => [query, idsOf(list)])),
      lines: (await asAdmin(service, 'GET', path, lines)).text,
      csv: (await asAdmin(service, 'GET', path, csv)).text,
      exported: readFileSync(files('users.ndjson'), 'utf8'),
      path,
    };
  },
  find: async (service, { users, details, entries, ids, lines, csv, path }) => {
    const pages = await readPages(service.api, '/api/users?limit=10', {
      token: service.adminToken,
    });
    expect(pages.flatMap(({ answer }) => answer.body)).toMatchObject(users);
    for (const each of details) expect(await shown(service, each.id)).toMatchObject(each);
    expect(await entriesAt(service, path)).toMatchObject(entries);
    for (const [query, list] of Object.entries(ids)) {
      expect([query, idsOf(await entriesAt(service, query))]).toEqual([query, list]);
    }
    const json = await asAdmin(service, 'GET', path, { accept: 'application/x-ndjson' });
    expect(parse(json.text)).toMatchObject(parse(lines));
    // A newer version may have more columns, after these columns.
    const table = (await asAdmin(service, 'GET', path, { accept: 'text/csv' })).text.split('\r\n');
    for (const [at, line] of csv.split('\r\n').entries()) expect(table[at]).toMatch(line);
  },
});

/** The different kinds of audit queries. @param id a user who has made changes, and whom others have changed */
const queries = (id: number): readonly string[] => [
  '',
  '&order=asc',
  '&userId=1',
  '&action=LOGIN',
  '&userId=1&action=CREATE',
  `&resourceId=${id}`,
  `&about=${id}`,
  '&result=FAILURE',
  '&ipAddress=127.0.0.1',
];

const parse = (lines: string): readonly object[] =>
  lines
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

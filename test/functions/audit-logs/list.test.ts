import { describe, expect, it } from 'vitest';
import {
  entriesOf,
  nextPage,
  outcome,
  readPages,
  refusal,
  serviceForThisFile,
  uniqueAgent,
} from '../../support/acceptance.ts';
import { type Account, logIn, register, uniqueEmail } from '../../support/client.ts';

interface Entry {
  readonly id: number;
  readonly user_id: number | null;
  readonly action: string;
  readonly resource_id: string | null;
  readonly result: string;
  readonly ip_address: string | null;
  readonly user_agent: string | null;
  readonly created_at: string;
}

const service = await serviceForThisFile();
const { api, adminToken } = service;
const get = (query = '', token = adminToken) =>
  api('GET', `/api/admin/audit-logs${query}`, { token });
const readAll = async (query: string): Promise<readonly Entry[]> => {
  const path = `/api/admin/audit-logs${query}`;
  const pages = await readPages(api, path, { token: adminToken });
  return pages.flatMap(({ answer }) => answer.body.data);
};

/** A user with audit entries CREATE and LOGIN, followed by a given number of entries UPDATE. */
const userWithEntries = async (updates: number): Promise<Account> => {
  const account = await register(api);
  await logIn(api, account);
  for (let i = 0; i < updates; i += 1) {
    const json = { name: `n${i}` };
    await api('PUT', `/api/users/${account.id}`, { token: account.token, json });
  }
  return account;
};

const [busy, other] = [await userWithEntries(103), await userWithEntries(2)];

describe('GET /api/admin/audit-logs', () => {
  describe('for the entries of one user', async () => {
    const { id, token, email, password } = await register(api);
    await api('POST', '/api/login', { json: { email, password: 'wrong' } });
    await logIn(api, { email, password });
    await api('PUT', `/api/users/${id}`, { token, json: { name: 'n' } });
    await api('PUT', `/api/users/${id}`, { token: adminToken, json: { role: 'admin' } });
    const another = { name: 'n', email: uniqueEmail(), password: 'p' };
    await api('POST', '/api/users', { token, json: another });
    const story = await readAll(`?about=${id}&order=asc`);
    const names = ['created', 'failed', 'logged in', 'renamed', 'promoted', 'made another'];

    const wholeStory = 'made another, promoted, renamed, logged in, failed, created';
    // The same time, written with an offset of one hour ahead of UTC.
    const ahead = (text = '') =>
      new Date(Date.parse(text) + 3_600_000).toISOString().replace('Z', '%2B01:00');

    it.each([
      ['userId=ID', 'made another, renamed, logged in, failed, created'],
      ['userId=ID&order=asc&limit=3', 'created, failed, logged in, renamed, made another'],
      ['userId=ID&action=LOGIN', 'logged in, failed'],
      ['resourceId=ID', 'promoted, renamed, logged in, failed, created'],
      ['result=FAILURE&userId=ID', 'failed'],
      ['result=SUCCESS&userId=ID', 'made another, renamed, logged in, created'],
      ['about=ID&limit=2', wholeStory],
      ['about=ID&ipAddress=SOURCE', wholeStory],
      ['about=ID&ipAddress=::ffff:SOURCE', wholeStory],
      ['about=ID&ipAddress=192.0.2.99', ''],
      ['about=ID&since=RENAMED', 'made another, promoted, renamed'],
      ['about=ID&since=RENAMED&until=LAST', 'promoted, renamed'],
    ])('answers to ?%s: %s', async (query, expected) => {
      const entries = await readAll(
        `?${query}`
          .replace('ID', String(id))
          .replace('SOURCE', String(story[0]?.ip_address))
          .replace('RENAMED', String(story[3]?.created_at))
          .replace('LAST', ahead(story[5]?.created_at)),
      );

      const told = entries.map((entry) => names[story.findIndex((one) => one.id === entry.id)]);
      expect(told.join(', ')).toBe(expected);
    });
  });

  it('leads through all pages of a query, newest first, without gaps or repetitions', async () => {
    const entries = await readAll(`?userId=${busy.id}&limit=27`);

    expect(entries).toEqual(await readAll(`?userId=${busy.id}`));
    expect(entries).toHaveLength(105);
    expect(new Set(entries.map(({ id }) => id)).size).toBe(105);
    expect((await get(`?userId=${busy.id}`)).body.data).toHaveLength(100);
    const times = entries.map(({ created_at }) => created_at);
    expect(times).toEqual(times.toSorted().reverse());
  });

  it.each([
    ['limit=101', 'limit must be a whole number from 1 to 100'],
    ['about=5&userId=5', 'about must not be given with userId or resourceId'],
    ['about=5&resourceId=5', 'about must not be given with userId or resourceId'],
    ['user_id=5', expect.stringMatching(/^user_id is unknown; the parameters are userId, /)],
  ])('answers 400 to the query %s', async (query, message) => {
    expect(outcome(await get(`?${query}`))).toEqual(refusal(400, message));
  });

  const cursorOf = async (query: string) => {
    const [, next] = nextPage(await get(`?limit=1&${query}`))?.split('?') ?? [];
    return new URLSearchParams(next).get('cursor') ?? '';
  };

  it('answers 400 to a cursor of another query', async () => {
    const own = `userId=${busy.id}&action=UPDATE`;
    const cursor = await cursorOf(own);

    expect((await get(`?${own}&order=desc&cursor=${cursor}`)).status).toBe(200);
    expect(outcome(await get(`?userId=${busy.id}&cursor=${cursor}`))).toEqual(
      refusal(400, 'cursor is invalid'),
    );
  });

  /** A response in the form that an Accept header names, and the entries that the request left. */
  const getAs = async (accept: string, query = '') => {
    const agent = uniqueAgent();
    const headers = { accept, 'user-agent': agent };
    const answer = await api('GET', `/api/admin/audit-logs${query}`, {
      token: adminToken,
      headers,
    });
    return { ...answer, type: answer.headers.get('content-type'), agent };
  };

  it('answers the same entries as NDJSON, one on each line, up to 1,000 of them', async () => {
    const query = `?userId=${busy.id}`;

    const { status, type, text } = await getAs('application/x-ndjson', query);

    expect([status, type]).toEqual([200, 'application/x-ndjson']);
    expect(text).toMatch(/\n$/);
    const entries = text.trimEnd().split('\n');
    expect(entries.map((line) => JSON.parse(line))).toEqual(await readAll(query));
    expect(entries.length).toBeGreaterThan(100);
  });

  const header =
    'id,user_id,action,resource,resource_id,ip_address,user_agent,result,details,created_at\r\n';

  it('answers CSV with a header row, CRLF, quotes where needed, and nothing for null', async () => {
    const { id, token } = await register(api);
    await api('PUT', `/api/users/${id}`, {
      token,
      json: { name: 'n', email: uniqueEmail() },
      headers: { 'user-agent': 'a "b", c' },
    });
    const [update, creation] = await readAll(`?userId=${id}`);

    const { status, type, text } = await getAs('text/csv', `?userId=${id}`);

    expect([status, type]).toEqual([200, 'text/csv; charset=utf-8']);
    const row = ({ id: own, ip_address, user_agent, created_at }: Entry, rest: string) =>
      `${own},${id},${rest.replace('IP', `${ip_address}`).replace('AGENT', `${user_agent}`)},${created_at}\r\n`;
    expect(text).toBe(
      header +
        row(
          { ...update, user_agent: '"a ""b"", c"' } as Entry,
          `UPDATE,users,${id},IP,AGENT,SUCCESS,"{""fields"":[""name"",""email""]}"`,
        ) +
        row(creation as Entry, `CREATE,users,${id},IP,AGENT,SUCCESS,`),
    );
  });

  it('records an export with its filter and the number of its entries', async () => {
    const query = `?userId=${other.id}&since=2026-01-01T01:00:00%2B01:00&limit=3`;

    const { agent } = await getAs('text/csv', query);

    const entries = await entriesOf(service, agent);
    expect(entries).toEqual([
      expect.objectContaining({
        action: 'EXPORT',
        resource: 'audit-logs',
        resource_id: null,
        result: 'SUCCESS',
        user_id: expect.any(Number),
      }),
    ]);
    expect(JSON.parse(String(entries[0]?.details))).toEqual({
      format: 'csv',
      filter: { userId: other.id, since: '2026-01-01T00:00:00.000Z', order: 'desc' },
      entries: 3,
    });
  });

  it('records no export that is refused', async () => {
    const { status, agent } = await getAs('text/csv', '?since=yesterday');

    expect(status).toBe(400);
    expect(await entriesOf(service, agent)).toEqual([]);
  });

  it('does not take ip_address from the headers in which the client claims an address', async () => {
    const account = await register(api);
    const headers = { 'x-forwarded-for': '203.0.113.9', forwarded: 'for=203.0.113.9' };
    const json = { name: 'n' };

    await api('PUT', `/api/users/${account.id}`, { token: account.token, json, headers });

    const [{ ip_address }] = (await get(`?userId=${account.id}`)).body.data;
    expect(ip_address).toMatch(/^[\da-f.:]{3,45}$/i);
    expect(ip_address).not.toBe('203.0.113.9');
  });
});

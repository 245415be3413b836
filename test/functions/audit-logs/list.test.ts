import { describe, expect, it } from 'vitest';
import {
  isoTimestamp,
  nextPage,
  outcome,
  readPages,
  refusal,
  serviceForThisFile,
} from '../../support/acceptance.ts';
import { type Account, logIn, register } from '../../support/client.ts';
import { badLimits, tamperedCursors } from '../../support/lists.ts';

interface Entry {
  readonly id: number;
  readonly user_id: number | null;
  readonly action: string;
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

/** A user of whom there are entries CREATE, LOGIN, and then UPDATE as often as asked. */
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
  it('answers entries with all their fields and no others', async () => {
    const { status, body } = await get();

    expect(status).toBe(200);
    expect(Object.keys(body)).toEqual(['data']);
    for (const entry of body.data) {
      expect(entry).toEqual({
        id: expect.any(Number),
        user_id: expect.toSatisfy((id) => id === null || Number.isSafeInteger(id)),
        action: expect.stringMatching(/^(CREATE|READ|UPDATE|DELETE|LOGIN|LOGOUT|EXPORT)$/),
        resource: 'users',
        resource_id: expect.toSatisfy((id) => id === null || /^\d+$/.test(id)),
        ip_address: expect.any(String),
        user_agent: expect.any(String),
        result: expect.stringMatching(/^(SUCCESS|FAILURE)$/),
        details: expect.toSatisfy((text) => text === null || typeof text === 'string'),
        created_at: isoTimestamp,
      });
    }
  });

  it('answers at most 100 entries', async () => {
    expect((await get()).body.data).toHaveLength(100);
    expect((await get(`?userId=${busy.id}`)).body.data).toHaveLength(100);
  });

  it.each(['', `?userId=${busy.id}`, '?action=UPDATE', `?userId=${busy.id}&action=UPDATE`])(
    'answers the newest first for the query "%s"',
    async (query) => {
      const entries: readonly Entry[] = (await get(query)).body.data;

      const times = entries.map(({ created_at }) => created_at);
      expect(times).toEqual([...times].sort().reverse());
      expect(new Set(entries.map(({ id }) => id)).size).toBe(entries.length);
    },
  );

  it('begins with what was done last', async () => {
    const account = await register(api);

    const { body } = await get(`?userId=${account.id}`);

    expect(body.data).toEqual([
      expect.objectContaining({ user_id: account.id, action: 'CREATE', result: 'SUCCESS' }),
    ]);
  });

  it('answers only what a user did when asked for it', async () => {
    const entries = await readAll(`?userId=${other.id}`);

    expect(entries.map(({ user_id, action }) => [user_id, action])).toEqual([
      [other.id, 'UPDATE'],
      [other.id, 'UPDATE'],
      [other.id, 'LOGIN'],
      [other.id, 'CREATE'],
    ]);
  });

  it('answers only entries of an action when asked for it', async () => {
    const entries = await readAll('?action=LOGIN');

    expect(new Set(entries.map(({ action }) => action))).toEqual(new Set(['LOGIN']));
    expect(entries.map(({ user_id }) => user_id)).toContain(other.id);
  });

  it('applies both conditions when both are given', async () => {
    const entries = await readAll(`?userId=${other.id}&action=UPDATE`);

    expect(entries.map(({ user_id, action }) => [user_id, action])).toEqual(
      Array(2).fill([other.id, 'UPDATE']),
    );
  });

  it.each(['READ', 'LOGOUT', 'EXPORT', 'DELETE'])(
    'answers an empty array when there is no entry of action %s',
    async (action) => {
      const answer = await get(`?userId=${other.id}&action=${action}`);

      expect(outcome(answer)).toEqual([200, { data: [] }]);
    },
  );

  it.each(['9007199254740991', '0', '-1', '-0'])(
    'answers an empty array to userId=%s, which nobody has',
    async (userId) => {
      expect(outcome(await get(`?userId=${userId}`))).toEqual([200, { data: [] }]);
    },
  );

  it.each([0, 20])('takes a userId with %i zeros before it', async (zeros) => {
    const answer = await get(`?userId=${'0'.repeat(zeros)}${other.id}`);

    expect(outcome(answer)).toEqual(outcome(await get(`?userId=${other.id}`)));
  });

  it.each(['', `userId=${busy.id}`, 'action=UPDATE', `userId=${busy.id}&action=UPDATE`])(
    'leads through all pages of the query "%s", without a gap or a repetition',
    async (query) => {
      const ofBusy = async (limit: number) =>
        (await readAll(`?limit=${limit}&${query}`)).filter(({ user_id }) => user_id === busy.id);

      const inSmallPages = await ofBusy(27);

      expect(inSmallPages).toEqual(await ofBusy(100));
      expect(inSmallPages.length).toBeGreaterThan(100);
      expect(new Set(inSmallPages.map(({ id }) => id)).size).toBe(inSmallPages.length);
    },
  );

  it('finds every entry of a user who has more than a page of them', async () => {
    const entries = await readAll(`?userId=${busy.id}`);

    expect(entries).toHaveLength(105);
    expect(entries.at(-1)?.action).toBe('CREATE');
  });

  it('leads nowhere when nothing remains', async () => {
    expect(nextPage(await get(`?userId=${other.id}&limit=4`))).toBeUndefined();
    expect(nextPage(await get(`?userId=${other.id}&limit=3`))).toMatch(
      /^\/api\/admin\/audit-logs\?/,
    );
  });

  it.each(['', 'delete', 'Delete', 'DROP', 'CREATE,READ', '%20CREATE', 'constructor', 'null', '1'])(
    'answers 400 to action=%s',
    async (action) => {
      expect(outcome(await get(`?action=${action}`))).toEqual(
        refusal(400, 'action must be one of CREATE, READ, UPDATE, DELETE, LOGIN, LOGOUT, EXPORT'),
      );
    },
  );

  it.each([
    ...['', '1.5', '1e3', '0x10', 'abc', '%201', '1%20', '+1', '1,2', 'null', 'NaN', '--1', '-'],
    ...['9007199254740993', '-9007199254740993', '99999999999999999999', '%D9%A1', '__proto__'],
  ])('answers 400 to userId=%s', async (userId) => {
    expect(outcome(await get(`?userId=${userId}`))).toEqual(
      refusal(400, 'userId must be an integer'),
    );
  });

  it.each(badLimits)('answers 400 to limit=%s', async (limit) => {
    expect(outcome(await get(`?limit=${limit}`))).toEqual(
      refusal(400, 'limit must be a whole number from 1 to 100'),
    );
  });

  it.each([
    ['resourceId=17', 'resourceId'],
    ['user_id=5', 'user_id'],
    ['from=', 'from'],
    ['USERID=5', 'USERID'],
    ['userId=1&constructor', 'constructor'],
    ['__proto__=1', '__proto__'],
    ['%5F_proto__=1', '__proto__'],
    ['userId%20=1', 'userId '],
    ['userId%5B%5D=1', 'userId[]'],
    ['%zz=1', '%zz'],
    ['x=1&y=2', 'x'],
    ['=x', 'A parameter without a name'],
    ['&=&', 'A parameter without a name'],
  ])('answers 400 to the query %s, which it does not know', async (query, name) => {
    expect(outcome(await get(`?${query}`))).toEqual(
      refusal(400, `${name} is unknown; the parameters are userId, action, limit, cursor`),
    );
  });

  it.each([
    ['userId=1&userId=1', 'userId'],
    ['action=READ&userId=1&action=READ', 'action'],
    ['limit=1&%6Cimit=2', 'limit'],
    ['cursor=x&cursor', 'cursor'],
  ])('answers 400 to the query %s, which repeats a parameter', async (query, name) => {
    expect(outcome(await get(`?${query}`))).toEqual(
      refusal(400, `${name} must be given only once`),
    );
  });

  it.each(['?', '?&', '?&&limit=1&'])('takes the empty parts of the query "%s"', async (query) => {
    expect((await get(query)).status).toBe(200);
  });

  const cursorOf = async (query: string) => {
    const [, next] = nextPage(await get(`?limit=1&${query}`))?.split('?') ?? [];
    return new URLSearchParams(next).get('cursor') ?? '';
  };

  it('answers 400 to whatever is not a cursor that it gave', async () => {
    for (const tampered of tamperedCursors(await cursorOf(''))) {
      const answer = await get(`?cursor=${encodeURIComponent(tampered)}`);
      expect(outcome(answer), tampered).toEqual(refusal(400, 'cursor is invalid'));
    }
  });

  it('answers 400 to a cursor of another query', async () => {
    const queries = ['', 'userId=1', `userId=${busy.id}`, 'action=UPDATE', 'action=CREATE'];
    const cursor = await cursorOf(`userId=${busy.id}&action=UPDATE`);

    for (const query of queries) {
      const answer = await get(`?${query}&cursor=${cursor}`);
      expect(outcome(answer), query).toEqual(refusal(400, 'cursor is invalid'));
    }
  });

  it('answers 400 to a cursor of the users list', async () => {
    const page = await api('GET', '/api/users?limit=1', { token: adminToken });
    const [, query] = nextPage(page)?.split('?') ?? [];

    expect(outcome(await get(`?${query}`))).toEqual(refusal(400, 'cursor is invalid'));
  });

  it('keeps the client’s claims about where it is out of ip_address', async () => {
    const account = await register(api);
    const headers = { 'x-forwarded-for': '203.0.113.9', forwarded: 'for=203.0.113.9' };
    const json = { name: 'n' };

    await api('PUT', `/api/users/${account.id}`, { token: account.token, json, headers });

    const [{ ip_address }] = (await get(`?userId=${account.id}`)).body.data;
    expect(ip_address).toMatch(/^[\da-f.:]{3,45}$/i);
    expect(ip_address).not.toBe('203.0.113.9');
  });

  it('keeps the first 1,024 characters of a user agent', async () => {
    const account = await register(api);
    const json = { name: 'n' };
    const headers = { 'user-agent': 'x'.repeat(2000) };

    await api('PUT', `/api/users/${account.id}`, { token: account.token, json, headers });

    const [{ user_agent }] = (await get(`?userId=${account.id}`)).body.data;
    expect(user_agent).toBe('x'.repeat(1024));
  });
});

import { describe, expect, it } from 'vitest';
import {
  entriesOf,
  isoTimestamp,
  listUsers,
  nextPage,
  outcome,
  refusal,
  serviceForThisFile,
  uniqueAgent,
} from '../../acceptance.ts';
import { register } from '../../client.ts';
import { badLimits, tamperedCursors } from '../../lists.ts';

const service = await serviceForThisFile();
const { api, adminToken } = service;
const [first, second, third] = [await register(api), await register(api), await register(api)];
const get = (query = '', token = first.token) => api('GET', `/api/users${query}`, { token });
const ofPath = (path: string | undefined) => api('GET', path ?? '', { token: first.token });

describe('GET /api/users', () => {
  it('answers an array of users, each with five fields and no password', async () => {
    const { status, body } = await get();

    expect(status).toBe(200);
    expect(body.length).toBeGreaterThanOrEqual(3);
    for (const user of body) {
      expect(user).toEqual({
        id: expect.any(Number),
        name: expect.any(String),
        email: expect.any(String),
        role: expect.stringMatching(/^(user|admin)$/),
        created_at: isoTimestamp,
      });
    }
  });

  it('lists every user, the oldest first', async () => {
    const users = await listUsers(api, first.token);

    const ids = users.map(({ id }) => id);
    expect(ids).toEqual([...ids].sort((a, b) => a - b));
    expect(ids).toEqual(expect.arrayContaining([first.id, second.id, third.id]));
    expect(users.map(({ email }) => email)).toContain(service.admin.email);
  });

  it('shows each user as GET by id does', async () => {
    const users = await listUsers(api, first.token);

    const { body } = await api('GET', `/api/users/${second.id}`, { token: first.token });
    expect(users).toContainEqual(body);
  });

  it('answers a page of the asked length and leads to the next one until nothing remains', async () => {
    const everyone = await listUsers(api, first.token);

    const pages = [];
    for (let path: string | undefined = '/api/users?limit=2'; path; ) {
      const page = await ofPath(path);
      pages.push(page.body);
      path = nextPage(page);
    }

    expect(pages.flat().slice(0, everyone.length)).toEqual(everyone);
    expect(pages.slice(0, -1).every((page) => page.length === 2)).toBe(true);
    expect(pages.at(-1).length).toBeLessThanOrEqual(2);
  });

  it('keeps the limit in the link to the next page', async () => {
    const path = nextPage(await get('?limit=1'));

    expect(path).toMatch(/^\/api\/users\?(.*&)?limit=1(&|$)/);
  });

  it('leads nowhere when the last user is on the page', async () => {
    const { headers } = await get(`?limit=${100}`);
    const { length } = await listUsers(api, first.token);

    expect(headers.has('link')).toBe(length > 100);
  });

  it('goes on after a user who was deleted since the page was read', async () => {
    const [gone, next] = [await register(api), await register(api)];
    const before = await listUsers(api, first.token);
    let page = await get('?limit=1');
    for (let i = 0; i < before.length && page.body[0].id !== gone.id; i += 1) {
      page = await ofPath(nextPage(page));
    }

    await api('DELETE', `/api/users/${gone.id}`, { token: adminToken });

    expect((await ofPath(nextPage(page))).body[0].id).toBe(next.id);
  });

  it.each(badLimits)('answers 400 to limit=%s', async (limit) => {
    expect(outcome(await get(`?limit=${limit}`))).toEqual(
      refusal(400, 'limit must be a whole number from 1 to 100'),
    );
  });

  it('answers 400 to whatever is not a cursor that it gave', async () => {
    const cursor = new URLSearchParams(nextPage(await get('?limit=1'))?.split('?')[1]).get(
      'cursor',
    );

    for (const tampered of tamperedCursors(cursor ?? '')) {
      const answer = await get(`?cursor=${encodeURIComponent(tampered)}`);
      expect(outcome(answer), tampered).toEqual(refusal(400, 'cursor is invalid'));
    }
  });

  it('answers 400 to a cursor of the audit log', async () => {
    const page = await api('GET', '/api/admin/audit-logs?limit=1', { token: adminToken });
    const [, query] = nextPage(page)?.split('?') ?? [];

    expect(outcome(await get(`?${query}`))).toEqual(refusal(400, 'cursor is invalid'));
  });

  it('ignores parameters that it does not know', async () => {
    const { status } = await get('?role=admin&offset=1&__proto__=1&constructor=1');

    expect(status).toBe(200);
  });

  it('leaves no audit entry', async () => {
    const agent = uniqueAgent();

    await api('GET', '/api/users', { token: first.token, headers: { 'user-agent': agent } });

    expect(await entriesOf(service, agent)).toEqual([]);
  });
});

import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  type ListedUser,
  listUsers,
  nextPage,
  outcome,
  readPages,
  refusal,
  serviceForThisFile,
} from '../../support/acceptance.ts';
import { register, uniqueEmail } from '../../support/client.ts';
import { until } from '../../support/until.ts';

const service = await serviceForThisFile();
const { api, adminToken } = service;
const mine = [await register(api), await register(api), await register(api)] as const;
const [first, second] = mine;
const get = (query = '', token = first.token) => api('GET', `/api/users${query}`, { token });
const ofPath = (path = '') => api('GET', path, { token: first.token });
const idsOf = (users: readonly ListedUser[]) => users.map(({ id }) => id);
const idsOfMine = (users: readonly ListedUser[]) =>
  idsOf(users).filter((listed) => mine.some(({ id }) => id === listed));

describe('GET /api/users', () => {
  it('lists every user, the oldest first', async () => {
    const users = await listUsers(api, first.token);

    const times = users.map(({ created_at }) => created_at);
    expect(times).toEqual([...times].sort());
    expect(idsOfMine(users)).toEqual(mine.map(({ id }) => id));
    expect(users.map(({ email }) => email)).toContain(service.admin.email);
  });

  it('shows each user in the same form as GET /api/users/{id}', async () => {
    const users = await listUsers(api, first.token);

    const { body } = await api('GET', `/api/users/${second.id}`, { token: first.token });
    expect(users).toContainEqual(body);
  });

  it('continues after a user who has been deleted since the page was read', async () => {
    const [gone, next] = [await register(api), await register(api)];
    /** The page that ends with the user; false if another test has deleted a user meanwhile. */
    const readToThere = async () => {
      const pages = await readPages(api, '/api/users?limit=1000', { token: first.token });
      const [found] = pages.filter(({ answer }) => idsOf(answer.body).includes(gone.id));
      const position = idsOf(found?.answer.body).indexOf(gone.id) + 1;
      const page = await ofPath(found?.path.replace('limit=1000', `limit=${position}`));
      return idsOf(page.body).at(-1) === gone.id && page;
    };
    const endingThere = await until(readToThere);

    await api('DELETE', `/api/users/${gone.id}`, { token: adminToken });

    const rest = await readPages(api, nextPage(endingThere) ?? '', { token: first.token });
    expect(rest.flatMap(({ answer }) => idsOf(answer.body))).toContain(next.id);
  });

  it('lists the newest first with order=desc, in pages of the asked length', async () => {
    const pages = await readPages(api, '/api/users?order=desc&limit=2', { token: first.token });

    const lists: ListedUser[][] = pages.map(({ answer }) => answer.body);
    const users = lists.flat();
    expect(lists.slice(0, -1).every((page) => page.length === 2)).toBe(true);
    expect(new Set(idsOf(users)).size).toBe(users.length);
    expect(idsOfMine(users)).toEqual(mine.map(({ id }) => id).reverse());
    // Ids are taken before users are stored: of two users who register at the same time, either may have the lower id.
    const times = users.map(({ created_at }) => created_at);
    expect(times).toEqual(times.toSorted().reverse());
  });

  it.each([
    ['users', '?limit=1&order=desc', '?limit=1'],
    ['users', '?limit=1&order=asc', '?limit=1&order=desc'],
    ['users', '?limit=1&search=%40', '?limit=1&search=a'],
    ['users', '?limit=1&role=admin', '?limit=1'],
    ['admin/audit-logs', '?limit=1', '?limit=1'],
  ])('answers 400 to a cursor of %s%s that is used with %s', async (list, query, other) => {
    await api('POST', '/api/users', {
      token: adminToken,
      json: { name: 'Second', email: uniqueEmail(), password: 'password', role: 'admin' },
    });
    const page = await api('GET', `/api/${list}${query}`, { token: adminToken });
    const cursor = /cursor=[^&]+/.exec(nextPage(page) ?? '')?.[0];

    expect(outcome(await get(`${other}&${cursor}`, adminToken))).toEqual(
      refusal(400, 'cursor is invalid'),
    );
  });

  it('answers the only user who has the given address, in any letter case', async () => {
    const answer = await get(`?email=${encodeURIComponent(second.email.toUpperCase())}`);

    const { body } = await api('GET', `/api/users/${second.id}`, { token: first.token });
    expect(outcome(answer)).toEqual([200, [body]]);
    expect(nextPage(answer)).toBeUndefined();
  });

  it.each([
    ['limit=1001', 'limit must be a whole number from 1 to 1000'],
    ['email=', 'email must be a valid email address'],
    ['email=ada@example.org&cursor=x', 'cursor must not be given with email'],
    ['order=up', 'order must be one of asc, desc'],
    ['role=user', 'role must be one of admin'],
    ['search=%20', 'search must not be empty'],
    [`search=${'x'.repeat(101)}`, 'search must be at most 100 characters'],
  ])('answers 400 to ?%s', async (query, message) => {
    expect(outcome(await get(`?${query}`, adminToken))).toEqual(refusal(400, message));
  });

  it('finds users by a part of the name or the address, page after page, in the given order', async () => {
    const part = `Ö%.*\\${randomUUID()}`;
    const [byName, byAddress] = [
      await register(api, { name: `Ada ${part} Lovelace` }),
      await register(api, { email: `${part}@example.com` }),
    ];
    const search = new URLSearchParams({ search: ` ${part.toLowerCase()} `, order: 'desc' });
    const options = { token: adminToken };

    const pages = await readPages(api, `/api/users?${search}&limit=1`, options);

    const users: ListedUser[] = pages.flatMap(({ answer }) => answer.body);
    expect(idsOf(users)).toEqual([byAddress.id, byName.id]);
    expect(users).toContainEqual((await api('GET', `/api/users/${byName.id}`, options)).body);
  });

  it.each([
    ['email=nobody@example.org', 'role=admin', 0],
    ['email=SECOND', 'role=admin', 0],
    ['email=ADMIN', 'role=admin', 1],
    ['email=ADMIN', 'search=%40', 1],
    ['email=ADMIN', 'search=nobody-has-this', 0],
    ['role=admin', 'search=ADMIN', 1],
    ['role=admin', 'search=SECOND', 0],
  ])('shows with ?%s&%s only users who match both', async (filter, search, count) => {
    const query = `?${filter}&${search}`
      .replace('ADMIN', encodeURIComponent(service.admin.email))
      .replace('SECOND', encodeURIComponent(second.email));

    expect((await get(query, adminToken)).body).toHaveLength(count);
  });

  it.each(['search=a', 'search=', 'search=a&limit=0'])(
    'answers 403 to ?%s from callers who are not admins',
    async (query) => {
      expect(outcome(await get(`?${query}`))).toEqual(refusal(403, 'Forbidden'));
    },
  );

  it('lists only the admins with role=admin, to every caller', async () => {
    const all = await listUsers(api, first.token);

    const pages = await readPages(api, '/api/users?role=admin&limit=1', { token: first.token });

    const admins: ListedUser[] = pages.flatMap(({ answer }) => answer.body);
    expect(new Set(admins.map(({ role }) => role))).toEqual(new Set(['admin']));
    // Tests of other files make users admins meanwhile.
    const owner = all.find(({ email }) => email === service.admin.email);
    expect(admins).toContainEqual(owner);
  });

  it('ignores parameters that it does not know', async () => {
    // Under other settings lists can be filtered by `status` and `auditor`.
    const { status } = await get(
      '?rol=admin&offset=1&__proto__=1&constructor=1&status=no&auditor=no',
    );

    expect(status).toBe(200);
  });
});

import { describe, expect, it } from 'vitest';
import { handler } from '../../functions/v1-users/index.ts';
import { gatewayEvent } from '../support/event.ts';

// Calls the function itself, without HTTP: ten thousand requests would take long, and the memory that they fill belongs
// to the whole process.
const call = async (method: string, { id, json }: { id?: number; json?: object } = {}) => {
  const { statusCode, body } = await handler(
    gatewayEvent({
      method,
      path: id ? `/api/v1/users/${id}` : '/api/v1/users',
      route: id ? '/api/v1/users/{id}' : '/api/v1/users',
      ...(id ? { pathParameters: { id: String(id) } } : {}),
      json,
    }),
    {},
  );
  return [statusCode, body && JSON.parse(body)];
};
const create = (i: number) => call('POST', { json: { name: 'n', email: `${i}@example.org` } });
const full = [503, { message: 'Too many users in memory' }];

describe('The memory of /api/v1/users', () => {
  it('holds at most 10,000 users, and has room for another user after a deletion', async () => {
    let last: unknown[] = [];
    for (let i = 1; i <= 10_000; i += 1) last = await create(i);
    expect(last).toEqual([201, expect.objectContaining({ id: 10_000 })]);

    expect(await create(10_001)).toEqual(full);
    expect((await call('GET'))[1]).toHaveLength(10_000);
    expect(await create(1)).toEqual([409, { message: 'Email already exists' }]);
    expect((await call('PATCH', { id: 1, json: { name: 'New' } }))[0]).toBe(200);

    expect(await call('DELETE', { id: 7 })).toEqual([204, undefined]);
    expect(await create(10_001)).toEqual([201, expect.objectContaining({ id: 10_001 })]);
    expect(await create(10_002)).toEqual(full);
  });
});

describe('The function of /api/v1/users', () => {
  it('counts its ids from 1', async () => {
    const [, { id, email }] = await call('GET', { id: 1 });

    expect([id, email]).toEqual([1, '1@example.org']);
  });

  it('rejects a route that belongs to another function', async () => {
    await expect(call('OPTIONS')).rejects.toThrow('No handler for route OPTIONS /api/v1/users');
  });
});

import { beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { userItem } from '../../../lib/users/store.ts';
import { type Account, makeUser, register, uniqueEmail } from '../../support/client.ts';
import { proxiedServiceForThisFile } from '../../support/proxied-service.ts';
import { stillClockForThisFile } from '../../support/still-clock.ts';
import { storedUser } from '../../support/stored-user.ts';
import { writeBatches } from '../../support/write-batches.ts';

const services = {
  'without sessions': await proxiedServiceForThisFile(),
  // A second factor costs no further request for users who have none.
  'with sessions': await proxiedServiceForThisFile({
    SESSION_DAYS: '90',
    SECOND_FACTOR: 'optional',
  }),
} as const;
type Service = (typeof services)[keyof typeof services];

/** The requests of the service to DynamoDB: `entry` is the write of an audit entry, `trail` a query of the trail. */
const asked = ({ proxy, service }: Service): readonly string[] => {
  const { USERS_TABLE, AUDIT_TABLE } = service.environment;
  return proxy.requests.map(({ operation, tables }) => {
    expect([[USERS_TABLE], [AUDIT_TABLE]]).toContainEqual(tables);
    if (tables[0] === USERS_TABLE) return operation;
    return { PutItem: 'entry', Query: 'trail' }[operation] ?? `${operation} of the trail`;
  });
};

/** The users whom a request is about: a user, a user whom the first one has created, and the token of an admin. */
interface Subject {
  readonly user: Account;
  readonly made: Omit<Account, 'token'>;
  readonly admin: string;
}

/** A request to the API, and its token and body. */
type Sent = readonly [route: string, token?: string | undefined, json?: object];

const newUser = () => ({ name: 'n', email: uniqueEmail(), password: 'p' });
const own = ({ user }: Subject, json: object): Sent => [
  `PUT /api/users/${user.id}`,
  user.token,
  { currentPassword: user.password, ...json },
];

// biome-ignore format: a table
const rows: readonly (readonly [
  title: string, send: (subject: Subject) => Sent, without: string, withSessions: string,
])[] = [
  ['registers', () => ['POST /api/auth/register', undefined, newUser()],
    'UpdateItem TransactWriteItems entry', 'UpdateItem TransactWriteItems entry UpdateItem'],
  ['registers with a taken address', ({ user }) => ['POST /api/auth/register', undefined, user],
    'UpdateItem TransactWriteItems', 'UpdateItem TransactWriteItems'],
  ['makes a user', ({ user }) => ['POST /api/users', user.token, newUser()],
    'UpdateItem TransactWriteItems entry', 'BatchGetItem UpdateItem TransactWriteItems entry'],
  ['makes an admin', ({ admin }) => ['POST /api/users', admin, { ...newUser(), role: 'admin' }],
    'UpdateItem TransactWriteItems entry', 'BatchGetItem UpdateItem TransactWriteItems entry'],
  // The counts of failures are read before and after the check of the password. The user was seen on the same day.
  ['logs in', ({ user }) => ['POST /api/login', undefined, user],
    'BatchGetItem GetItem BatchGetItem entry',
    'BatchGetItem GetItem BatchGetItem GetItem UpdateItem entry'],
  ['logs out', ({ user }) => ['POST /api/logout', user.token], '', 'BatchGetItem UpdateItem entry'],
  ['ends all other sessions', ({ user }) => [`DELETE /api/users/${user.id}/sessions`, user.token],
    '', 'BatchGetItem UpdateItem entry'],
  ['ends all sessions of another user',
    ({ user, admin }) => [`DELETE /api/users/${user.id}/sessions`, admin],
    '', 'BatchGetItem UpdateItem entry'],
  ['reads the profile', ({ user }) => ['GET /api/profile', user.token], 'GetItem', 'BatchGetItem'],
  ['reads the own user', ({ user }) => [`GET /api/users/${user.id}`, user.token],
    'GetItem', 'BatchGetItem GetItem'],
  ['reads another user', ({ user }) => ['GET /api/users/1', user.token],
    'GetItem', 'BatchGetItem GetItem'],
  ['lists more than a hundred users', ({ user }) => ['GET /api/users', user.token],
    'Query', 'BatchGetItem Query'],
  ['lists users in pages of a thousand', ({ user }) => ['GET /api/users?limit=1000', user.token],
    'Query', 'BatchGetItem Query'],
  ['lists the admins', ({ user }) => ['GET /api/users?role=admin', user.token],
    'Query', 'BatchGetItem Query'],
  ['lists the admins as an admin', ({ admin }) => ['GET /api/users?role=admin', admin],
    'Query', 'BatchGetItem Query BatchGetItem'],
  ['lists the suspended users', ({ admin }) => ['GET /api/users?status=suspended', admin],
    'Query', 'BatchGetItem Query'],
  ['finds a user', ({ user }) => [`GET /api/users?email=${user.email}`, user.token],
    'GetItem GetItem', 'BatchGetItem GetItem GetItem'],
  ['changes the own name', (subject) => own(subject, { name: 'New' }),
    'GetItem UpdateItem entry', 'BatchGetItem UpdateItem entry'],
  ['changes the letter case of the own address',
    (subject) => own(subject, { email: subject.user.email.toUpperCase() }),
    'GetItem UpdateItem entry', 'BatchGetItem BatchGetItem BatchGetItem UpdateItem entry'],
  ['changes the own password', (subject) => own(subject, { password: 'new' }),
    'GetItem UpdateItem entry', 'BatchGetItem BatchGetItem BatchGetItem UpdateItem entry'],
  ['changes the own address', (subject) => own(subject, { email: uniqueEmail() }),
    'GetItem TransactWriteItems entry',
    'BatchGetItem BatchGetItem BatchGetItem TransactWriteItems entry'],
  ['changes the name of a user whom the caller made',
    ({ user, made }) => [`PUT /api/users/${made.id}`, user.token, { name: 'New' }],
    'GetItem UpdateItem entry', 'BatchGetItem GetItem UpdateItem entry'],
  ['changes the address of a user whom the caller made',
    ({ user, made }) => [`PUT /api/users/${made.id}`, user.token, { email: uniqueEmail() }],
    'GetItem TransactWriteItems entry', 'BatchGetItem GetItem TransactWriteItems entry'],
  ['may not change another user',
    ({ user }) => ['PUT /api/users/1', user.token, { name: 'New' }],
    'GetItem', 'BatchGetItem GetItem'],
  ['sets a password as an admin',
    ({ user, admin }) => [`PUT /api/users/${user.id}`, admin, { password: 'new' }],
    'GetItem UpdateItem entry', 'BatchGetItem GetItem UpdateItem entry'],
  ['makes another user an admin',
    ({ user, admin }) => [`PUT /api/users/${user.id}`, admin, { role: 'admin' }],
    'GetItem TransactWriteItems entry', 'BatchGetItem GetItem TransactWriteItems entry'],
  ['sends the own role back as an admin', ({ admin }) => ['PUT /api/users/1', admin, { role: 'admin' }],
    'GetItem UpdateItem entry', 'BatchGetItem UpdateItem entry'],
  ['deletes a user', ({ user, admin }) => [`DELETE /api/users/${user.id}`, admin],
    'GetItem TransactWriteItems entry', 'BatchGetItem GetItem TransactWriteItems entry'],
  ['deletes a user who does not exist', ({ admin }) => ['DELETE /api/users/999999', admin],
    'GetItem', 'BatchGetItem GetItem'],
  ...['userId=1', 'userId=1&action=LOGIN'].map((query) => [
    `reads the trail, ${query}`, ({ admin }: Subject): Sent => [`GET /api/admin/audit-logs?${query}`, admin],
    'trail', 'BatchGetItem trail'] as const),
  ...['limit=1', 'limit=1&action=EXPORT'].map((query) => [
    `reads all shards of the trail, ${query}`, ({ admin }: Subject): Sent => [`GET /api/admin/audit-logs?${query}`, admin],
    Array(8).fill('trail').join(' '), `BatchGetItem ${Array(8).fill('trail').join(' ')}`] as const),
  ['has an invalid token', () => ['GET /api/profile', 'x.y.z'], '', ''],
  ['has no token', () => ['GET /api/profile'], '', ''],
  ['registers without a name',
    () => ['POST /api/auth/register', undefined, { ...newUser(), name: '' }], '', ''],
  ['logs in without a password',
    ({ user: { email } }) => ['POST /api/login', undefined, { email }], '', ''],
  ['may not delete', ({ user }) => [`DELETE /api/users/${user.id}`, user.token], '', 'BatchGetItem'],
  ['deletes an invalid id', ({ admin }) => ['DELETE /api/users/0', admin], '', 'BatchGetItem'],
  ['reads the trail with an unknown action',
    ({ admin }) => ['GET /api/admin/audit-logs?action=NONE', admin], '', 'BatchGetItem'],
  ['lists users with the limit 0',
    ({ admin }) => ['GET /api/users?limit=0', admin], '', 'BatchGetItem'],
];

// Otherwise a day could end between a registration and a login.
stillClockForThisFile();

describe.each(['without sessions', 'with sessions'] as const)('A request %s', (name) => {
  const { proxy, service, admin } = services[name];
  const send = ([route, token, json]: Sent) => {
    const [method = '', path = ''] = route.split(' ');
    const options = { ...(token ? { token } : {}), ...(json ? { json } : {}) };
    return service.api(method, path, options);
  };
  beforeAll(async () => {
    const items = Array.from({ length: 101 }, (_, i) => userItem(storedUser({ id: 1000 + i })));
    await writeBatches(inject('engine'), service.environment.USERS_TABLE ?? '', items);
  });
  let subject: Subject;
  beforeEach(async () => {
    const user = await register(service.api);
    subject = { user, made: await makeUser(service.api, user.token), admin };
    proxy.forget();
  });

  it.each(rows)('that %s sends DynamoDB only the requests that it needs', async (...row) => {
    const [, sent, without, withSessions] = row;

    await send(sent(subject));

    const expected = name === 'with sessions' ? withSessions : without;
    expect(asked(services[name]).join(' ')).toBe(expected);
  });

  it.each([
    ['a wrong password', ({ user }: Subject) => ({ email: user.email, password: 'wrong' })],
    ['an unknown address', newUser],
  ])(
    'that logs in with %s reads like a successful login, and counts two failures',
    async (_, credentials) => {
      await send(['POST /api/login', undefined, credentials(subject)]);

      const [counts, user, ...writes] = asked(services[name]);
      expect([counts, user]).toEqual(['BatchGetItem', 'GetItem']);
      expect(writes.toSorted()).toEqual(['UpdateItem', 'UpdateItem', 'entry']);
    },
  );
});

it('The read of a page of users asks for only one more user than the page has', async () => {
  const { proxy, service } = services['without sessions'];
  const { token } = await register(service.api);
  proxy.forget();

  await service.api('GET', '/api/users?limit=2', { token });

  const [content = ''] = proxy.requests.map((request) => request.content);
  expect(JSON.parse(content.replace('Query', '')).Limit).toBe(3);
});

describe('A session', () => {
  it('is read consistently by one request for two items', async () => {
    const { proxy, service } = services['with sessions'];
    const { id, token } = await register(service.api);
    proxy.forget();

    await service.api('GET', '/api/profile', { token });

    const [content = ''] = proxy.requests.map((request) => request.content);
    expect(JSON.parse(content.replace('BatchGetItem', '')).RequestItems).toEqual({
      [service.environment.USERS_TABLE ?? '']: {
        ConsistentRead: true,
        Keys: [{ pk: { S: `user#${id}` } }, { pk: { S: `sessions#${id}` } }],
      },
    });
  });
});

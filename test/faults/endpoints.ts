/** The endpoints as the fault tests see them: a call of each, and what a fault makes of it. */
import {
  type Account,
  type ApiRequestOptions,
  logIn,
  register,
  uniqueEmail,
} from '../support/client.ts';
import type { TestService } from '../support/service.ts';

/** What a request does to the users table or, where it says so, to the audit table. */
export type Access = 'read' | 'write' | 'transaction' | 'read audit';

export interface Call {
  readonly method: string;
  readonly path: string;
  readonly options: ApiRequestOptions;
}

export interface Caller {
  readonly account: Account;
  /** An admin's token. */
  readonly admin: string;
}

/** What a call acts on. */
export interface Subject extends Caller {
  /** The id of a user of the in-memory variant. */
  readonly memoryId: number;
}

export interface Endpoint {
  readonly name: string;
  readonly does: readonly Access[];
  /** Its answer when all is well. */
  readonly status: number;
  /** Its 500 when the store fails (spec, Endpoints): message and name of the further field. */
  readonly fault?: readonly [string, 'err' | 'insertErr'];
  /** The entry that it leaves when all is well. */
  readonly entry?: { readonly action: string; readonly result: string };
  /** Whether it leaves one of a storage fault as well. */
  readonly recordsFaults?: boolean;
  readonly call: (subject: Subject) => Call;
}

const newUser = () => ({ name: 'n', email: uniqueEmail(), password: 'pass-word' });
const memoryUser = () => ({ name: 'n', email: uniqueEmail() });

const inMemory: readonly (readonly [method: string, suffix: string, status: number])[] = [
  ['GET', '', 200],
  ['POST', '', 201],
  ['GET', '/{id}', 200],
  ['PUT', '/{id}', 200],
  ['PATCH', '/{id}', 200],
  ['DELETE', '/{id}', 204],
];

const get = (path: string, token?: string): Call => ({
  method: 'GET',
  path,
  options: token === undefined ? {} : { token },
});

const success = (action: string) => ({ action, result: 'SUCCESS' });

export const endpoints: readonly Endpoint[] = [
  {
    name: 'POST /api/auth/register',
    does: ['write', 'transaction'],
    status: 201,
    fault: ['Error registering user', 'insertErr'],
    entry: success('CREATE'),
    recordsFaults: true,
    call: () => ({ method: 'POST', path: '/api/auth/register', options: { json: newUser() } }),
  },
  {
    name: 'POST /api/login',
    does: ['read'],
    status: 200,
    fault: ['Error checking user', 'err'],
    entry: success('LOGIN'),
    call: ({ account: { email, password } }) => ({
      method: 'POST',
      path: '/api/login',
      options: { json: { email, password } },
    }),
  },
  {
    name: 'POST /api/login, wrong password',
    does: ['read'],
    status: 401,
    fault: ['Error checking user', 'err'],
    entry: { action: 'LOGIN', result: 'FAILURE' },
    call: ({ account: { email } }) => ({
      method: 'POST',
      path: '/api/login',
      options: { json: { email, password: 'wrong-word' } },
    }),
  },
  {
    name: 'GET /api/profile',
    does: ['read'],
    status: 200,
    fault: ['Error fetching profile', 'err'],
    call: ({ account: { token } }) => get('/api/profile', token),
  },
  {
    name: 'POST /api/users',
    does: ['write', 'transaction'],
    status: 201,
    fault: ['Error creating user', 'insertErr'],
    entry: success('CREATE'),
    recordsFaults: true,
    call: ({ account: { token } }) => ({
      method: 'POST',
      path: '/api/users',
      options: { token, json: newUser() },
    }),
  },
  {
    name: 'GET /api/users',
    does: ['read'],
    status: 200,
    fault: ['Error listing users', 'err'],
    call: ({ account: { token } }) => get('/api/users', token),
  },
  {
    name: 'GET /api/users/{id}',
    does: ['read'],
    status: 200,
    fault: ['Error fetching user', 'err'],
    call: ({ account: { id, token } }) => get(`/api/users/${id}`, token),
  },
  {
    name: 'PUT /api/users/{id}, name',
    does: ['read', 'write'],
    status: 200,
    fault: ['Error updating user', 'err'],
    entry: success('UPDATE'),
    recordsFaults: true,
    call: ({ account: { id, token } }) => ({
      method: 'PUT',
      path: `/api/users/${id}`,
      options: { token, json: { name: 'Renamed', password: 'new-pass-word' } },
    }),
  },
  {
    name: 'PUT /api/users/{id}, email',
    does: ['read', 'transaction'],
    status: 200,
    fault: ['Error updating user', 'err'],
    entry: success('UPDATE'),
    recordsFaults: true,
    call: ({ account: { id, token } }) => ({
      method: 'PUT',
      path: `/api/users/${id}`,
      options: { token, json: { email: uniqueEmail() } },
    }),
  },
  {
    name: 'DELETE /api/users/{id}',
    does: ['read', 'transaction'],
    status: 204,
    fault: ['Error deleting user', 'err'],
    entry: success('DELETE'),
    recordsFaults: true,
    call: ({ account, admin }) => ({
      method: 'DELETE',
      path: `/api/users/${account.id}`,
      options: { token: admin },
    }),
  },
  ...['', '?userId=1&action=LOGIN'].map(
    (query): Endpoint => ({
      name: `GET /api/admin/audit-logs${query}`,
      does: ['read audit'],
      status: 200,
      fault: ['Error fetching audit logs', 'err'],
      call: ({ admin }) => get(`/api/admin/audit-logs${query}`, admin),
    }),
  ),
  ...inMemory.map(
    ([method, suffix, status]): Endpoint => ({
      name: `${method} /api/v1/users${suffix}`,
      does: [],
      status,
      call: ({ memoryId }) => ({
        method,
        path: `/api/v1/users${suffix.replace('{id}', String(memoryId))}`,
        options: method.startsWith('P') ? { json: memoryUser() } : {},
      }),
    }),
  ),
];

/** Something of its own for a call to act on, to be made while all is well. */
export const prepareSubject = async (
  { api }: TestService,
  { does, name }: Endpoint,
  caller: Caller,
): Promise<Subject> => {
  const inMemory = name.includes('/v1/');
  const memory = inMemory && (await api('POST', '/api/v1/users', { json: memoryUser() }));
  const own = does.includes('read') && name !== 'GET /api/users';
  return {
    account: own ? await register(api) : caller.account,
    admin: caller.admin,
    memoryId: memory ? memory.body.id : 0,
  };
};

export const prepareCaller = async ({ api, admin }: TestService): Promise<Caller> => ({
  account: await register(api),
  admin: await logIn(api, admin),
});

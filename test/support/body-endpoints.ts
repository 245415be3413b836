import { randomUUID } from 'node:crypto';
import { createMemoryUser } from '../functions/v1-users/users.ts';
import { type AcceptanceService, entriesOf, listUsers, uniqueAgent } from './acceptance.ts';
import { type ApiAnswer, type ApiRequestOptions, register } from './client.ts';

export type Field = 'name' | 'email' | 'password';

/** An endpoint that takes a JSON body, ready to be called. */
export interface BodyEndpoint {
  readonly title: string;
  readonly fields: readonly Field[];
  /** The status of an answer to a body with which nothing is wrong. */
  readonly success: number;
  readonly send: (
    request: Pick<ApiRequestOptions, 'json' | 'body' | 'headers'>,
  ) => Promise<ApiAnswer>;
}

const nameAndEmail = ['name', 'email'] as const;
const newUser = ['name', 'email', 'password'] as const;

/** The endpoints that take a body, and one user of each kind for them to change. */
export const bodyEndpoints = async (service: AcceptanceService) => {
  const { api, adminToken } = service;
  const [user, memoryUser] = [await register(api), await createMemoryUser(api)];
  const agent = uniqueAgent();
  const mark = randomUUID();
  const { token } = user;

  const endpoint = (
    title: string,
    options: { fields: readonly Field[]; success: number; token?: string },
  ): BodyEndpoint => {
    const [method = '', path = ''] = title
      .replace('/v1/users/{id}', `/v1/users/${memoryUser.id}`)
      .replace('/api/users/{id}', `/api/users/${user.id}`)
      .split(' ');
    const authorization = options.token ? { token: options.token } : {};
    return {
      title,
      ...options,
      send: ({ headers, ...request }) =>
        api(method, path, {
          ...authorization,
          ...request,
          headers: { 'user-agent': agent, ...headers },
        }),
    };
  };

  /** An address by which {@link state} finds whoever was given it. */
  const markedEmail = () => `${randomUUID()}@${mark}`;

  /** All that the endpoints could have changed or left behind. */
  const state = async () => ({
    user: (await api('GET', `/api/users/${user.id}`, { token })).body,
    memoryUser: (await api('GET', `/api/v1/users/${memoryUser.id}`)).body,
    others: [
      ...(await listUsers(api, adminToken)),
      ...(await api('GET', '/api/v1/users')).body,
    ].filter(({ email }) => email.includes(mark)),
    entries: await entriesOf(service, agent),
  });

  const endpoints: readonly BodyEndpoint[] = [
    endpoint('POST /api/auth/register', { fields: newUser, success: 201 }),
    endpoint('POST /api/login', { fields: ['email', 'password'], success: 404 }),
    endpoint('POST /api/users', { fields: newUser, success: 201, token }),
    endpoint('PUT /api/users/{id}', { fields: newUser, success: 200, token }),
    endpoint('POST /api/v1/users', { fields: nameAndEmail, success: 201 }),
    endpoint('PUT /api/v1/users/{id}', { fields: nameAndEmail, success: 200 }),
    endpoint('PATCH /api/v1/users/{id}', { fields: nameAndEmail, success: 200 }),
  ];
  return { endpoints, state, markedEmail };
};

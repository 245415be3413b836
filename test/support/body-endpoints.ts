import { randomUUID } from 'node:crypto';
import { type AcceptanceService, entriesOf, listUsers, uniqueAgent } from './acceptance.ts';
import { type ApiAnswer, type ApiRequestOptions, register } from './client.ts';
import { endpoints, fieldsOf, idIn, tokenFor } from './examples.ts';
import { createMemoryUser } from './memory-users.ts';

/** The fields whose rules every endpoint shares. */
const commonFields = ['name', 'email', 'password'] as const;
type Field = (typeof commonFields)[number];

/** An endpoint that takes a JSON body, ready to be called. */
export interface BodyEndpoint {
  readonly title: string;
  readonly fields: readonly Field[];
  /** A body with which nothing is wrong, and an address by which `state` finds whoever got it. */
  readonly sound: () => Readonly<Record<string, unknown>>;
  /** The status of an answer to it. */
  readonly success: number;
  readonly send: (
    request: Pick<ApiRequestOptions, 'json' | 'body' | 'headers'>,
  ) => Promise<ApiAnswer>;
}

/** Where a sound body with a new address is refused. */
const successOfNewEmail: Readonly<Record<string, number>> = { 'POST /api/login': 404 };

/** The endpoints that take a body, and one user of each kind for them to change. */
export const bodyEndpoints = async (service: AcceptanceService) => {
  const { api, adminToken } = service;
  const [user, memoryUser] = [await register(api), await createMemoryUser(api)];
  const subject = { account: user, admin: adminToken, memoryId: memoryUser.id };
  const agent = uniqueAgent();
  const mark = randomUUID();

  const markedEmail = () => `${randomUUID()}@${mark}`;

  /** All that the endpoints could have changed or left behind. */
  const state = async () => ({
    user: (await api('GET', `/api/users/${user.id}`, { token: user.token })).body,
    memoryUser: (await api('GET', `/api/v1/users/${memoryUser.id}`)).body,
    others: [
      ...(await listUsers(api, adminToken)),
      ...(await api('GET', '/api/v1/users')).body,
    ].filter(({ email }) => email.includes(mark)),
    entries: await entriesOf(service, agent),
  });

  const taking = endpoints.flatMap((example): readonly BodyEndpoint[] => {
    const { route, method, path, json, status } = example;
    if (!json) return [];
    const token = tokenFor(example, subject);
    const target = path.replace('{id}', idIn(example, subject));
    const fields = fieldsOf(route, subject);
    return [
      {
        title: route,
        fields: commonFields.filter((field) => fields.includes(field)),
        sound: () => ({ ...json(subject), name: 'n', email: markedEmail(), password: 'p' }),
        success: successOfNewEmail[route] ?? status,
        send: ({ headers, ...request }) =>
          api(method, target, {
            ...(token ? { token } : {}),
            ...request,
            headers: { 'user-agent': agent, ...headers },
          }),
      },
    ];
  });
  return { endpoints: taking, state, markedEmail };
};

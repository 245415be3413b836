import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { uniqueEmail } from '../../support/client.ts';
import { gatewayEvent } from './event.ts';

/** The user with the id 1, as {@link firstCalls} creates it. */
export const person = { name: 'Some One', email: 'some@example.org', password: 'a password' };

const someoneElse = () => ({ ...person, email: uniqueEmail() });

/** The call that creates {@link person}. */
export const createPerson = (token: string): APIGatewayProxyEventV2 =>
  gatewayEvent({ routeKey: 'POST /api/users', token, json: person });

/**
 * A call of each function that goes all its way, by the function's name.
 * @param token an administrator's
 */
export const firstCalls: Readonly<Record<string, (token: string) => APIGatewayProxyEventV2>> = {
  register: () => gatewayEvent({ routeKey: 'POST /api/auth/register', json: someoneElse() }),
  login: () => gatewayEvent({ routeKey: 'POST /api/login', json: person }),
  profile: (token) => gatewayEvent({ routeKey: 'GET /api/profile', token }),
  'users-create': (token) =>
    gatewayEvent({ routeKey: 'POST /api/users', token, json: someoneElse() }),
  'users-list': (token) => gatewayEvent({ routeKey: 'GET /api/users', token }),
  'users-get': (token) =>
    gatewayEvent({ routeKey: 'GET /api/users/{id}', pathParameters: { id: '1' }, token }),
  'users-update': (token) =>
    gatewayEvent({
      routeKey: 'PUT /api/users/{id}',
      pathParameters: { id: '1' },
      token,
      json: { password: person.password },
    }),
  // Can be repeated: the user is not there.
  'users-delete': (token) =>
    gatewayEvent({ routeKey: 'DELETE /api/users/{id}', pathParameters: { id: '999999' }, token }),
  'audit-logs-list': (token) => gatewayEvent({ routeKey: 'GET /api/admin/audit-logs', token }),
  'v1-users': () => gatewayEvent({ routeKey: 'POST /api/v1/users', json: person }),
};

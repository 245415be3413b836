/** What a call that was understood asked for, in the words of the model. */
import { decodeJwt } from 'jose';
import type { Command, ModelUser } from '../support/model.ts';
import type { Answer, Call } from './handlers.ts';

/** What a body says that was understood: of a key that occurs twice, the last. */
export const bodyOf = ({ body = '', isBase64Encoded }: Call) =>
  JSON.parse(
    isBase64Encoded
      ? Buffer.from(body, 'base64')
          .toString()
          .replace(/^\ufeff/, '')
      : body,
  );

const callerOf = ({ headers }: Call) =>
  decodeJwt<{ id: number; role: string }>(String(headers.authorization).slice('Bearer '.length));

const trimmed = (fields: Readonly<Record<string, string>>) => ({
  ...fields,
  ...(fields.name === undefined ? {} : { name: fields.name.trim() }),
  ...(fields.email === undefined ? {} : { email: fields.email.trim() }),
});

/** The fields of a user that a body has, in the order in which audit entries name them. */
const fieldsIn = (call: Call, names: readonly string[]) => {
  const sent = bodyOf(call);
  const own = names.filter((name) => Object.hasOwn(sent, name));
  return trimmed(Object.fromEntries(own.map((name) => [name, sent[name]])));
};

const newUser = (call: Call, role: string) =>
  ({ ...fieldsIn(call, ['name', 'email', 'password']), role }) as ModelUser;

const commands: Readonly<Record<string, (call: Call) => Command>> = {
  'POST /api/auth/register 201': (call) => ({ kind: 'register', user: newUser(call, 'user') }),
  'POST /api/users 201': (call) => {
    const caller = callerOf(call);
    const role = caller.role === 'admin' ? (bodyOf(call).role ?? 'user') : 'user';
    return { kind: 'create', by: caller.id, user: newUser(call, role) };
  },
  'PUT /api/users/{id} 200': (call) => {
    const { id: by, role } = callerOf(call);
    const names = ['name', 'email', 'password', ...(role === 'admin' ? ['role'] : [])];
    return { kind: 'update', by, id: Number(call.id), changes: fieldsIn(call, names) };
  },
  'DELETE /api/users/{id} 204': (call) => ({
    kind: 'delete',
    by: callerOf(call).id,
    id: Number(call.id),
  }),
  'GET /api/users/{id} 200': (call) => ({ kind: 'get', id: Number(call.id) }),
  'GET /api/profile 200': (call) => ({ kind: 'profile', by: callerOf(call).id }),
};

const login = (call: Call): Command => {
  const { email, password } = bodyOf(call);
  return { kind: 'login', email, password };
};

/**
 * Every response says that something was done, or that somebody tried to log in, or that nothing
 * was: then there is no command.
 */
export const commandOf = (call: Call, { status }: Answer): Command | undefined =>
  call.route === 'POST /api/login' && [200, 401, 404].includes(status)
    ? login(call)
    : commands[`${call.route} ${status}`]?.(call);

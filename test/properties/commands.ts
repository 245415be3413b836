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

const callerOf = ({ headers }: Call) => {
  const token = String(headers.authorization).slice('Bearer '.length);
  const { id: by, role } = decodeJwt<{ id: number; role: string }>(token);
  return { by, ...(role === 'admin' ? {} : { as: 'user' as const }) };
};

/** The id that a path names, which has one spelling. */
const idIn = ({ id }: Call): number => (String(Number(id)) === id ? Number(id) : Number.NaN);

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
    const role = caller.as === 'user' ? 'user' : (bodyOf(call).role ?? 'user');
    return { kind: 'create', ...caller, user: newUser(call, role) };
  },
  'PUT /api/users/{id} 200': (call) => {
    const caller = callerOf(call);
    const names = ['name', 'email', 'password', ...(caller.as === 'user' ? [] : ['role'])];
    return { kind: 'update', ...caller, id: idIn(call), changes: fieldsIn(call, names) };
  },
  'GET /api/users/{id} 200': (call) => ({ kind: 'get', id: idIn(call) }),
  'GET /api/profile 200': (call) => ({ kind: 'profile', by: callerOf(call).by }),
};

const login = (call: Call): Command => {
  const { email, password } = bodyOf(call);
  return { kind: 'login', email, password };
};

const deletion = (call: Call): Command => ({ kind: 'delete', ...callerOf(call), id: idIn(call) });

/** The requests of which the model knows each of these responses, and what they ask for. */
const decided: Readonly<Record<string, readonly [readonly number[], (call: Call) => Command]>> = {
  'POST /api/login': [[200, 401, 404], login],
  'DELETE /api/users/{id}': [[204, 403, 404], deletion],
};

/**
 * Every response says that something was done, or refused by a rule that the model knows, or that
 * nothing was done: then there is no command.
 */
export const commandOf = (call: Call, { status }: Answer): Command | undefined => {
  const [statuses, command] = decided[call.route] ?? [];
  return statuses?.includes(status) ? command?.(call) : commands[`${call.route} ${status}`]?.(call);
};

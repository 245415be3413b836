/** Keeps account of what answers say was done, to be compared with what the tables say. */
import { decodeJwt } from 'jose';
import { emailKey, type User } from '../../lib/users/user.ts';
import type { Answer, Call } from './handlers.ts';

/** An audit entry, of which the rest does not depend on the answer. */
export interface Deed {
  readonly action: string;
  readonly user_id: number | null;
  readonly resource_id: string | null;
  readonly result: string;
  readonly details: string | null;
}

export interface Ledger {
  readonly users: Map<number, Omit<User, 'created_at'>>;
  readonly deeds: Deed[];
  /** Users whose password was accepted. */
  readonly newPasswords: Set<number>;
}

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
  Number(decodeJwt(String(headers.authorization).slice('Bearer '.length)).id);

const success = (action: string, user_id: number, id: unknown, details: string | null = null) => ({
  ...{ action, user_id, details },
  resource_id: String(id),
  result: 'SUCCESS',
});

const failedLogin = (user_id: number | null, reason: string): Deed => ({
  ...{ action: 'LOGIN', user_id, result: 'FAILURE' },
  resource_id: user_id === null ? null : String(user_id),
  details: JSON.stringify({ reason }),
});

type Effect = (ledger: Ledger, call: Call, text: string) => Deed;

const add = ({ users, newPasswords }: Ledger, { id, name, email, role }: User) => {
  users.set(id, { id, name, email, role });
  newPasswords.add(id);
};

/** Every answer that something was done; all others say that nothing was. */
const effects: Readonly<Record<string, Effect>> = {
  'POST /api/auth/register 201': (ledger, call, text) => {
    const claims = decodeJwt<User>(JSON.parse(text).token);
    add(ledger, { ...claims, name: bodyOf(call).name.trim() });
    return success('CREATE', claims.id, claims.id);
  },
  'POST /api/users 201': (ledger, call, text) => {
    const user: User = JSON.parse(text);
    add(ledger, user);
    return success('CREATE', callerOf(call), user.id);
  },
  'POST /api/login 200': (_, __, text) => {
    const { id } = decodeJwt<User>(JSON.parse(text).token);
    return success('LOGIN', id, id);
  },
  'POST /api/login 401': ({ users }, call) => {
    const typed = emailKey(bodyOf(call).email);
    const user = [...users.values()].find(({ email }) => emailKey(email) === typed);
    return failedLogin(user?.id ?? Number.NaN, 'wrong_password');
  },
  'POST /api/login 404': () => failedLogin(null, 'unknown_email'),
  'PUT /api/users/{id} 200': ({ users, newPasswords }, call, text) => {
    const { id, name, email, role }: User = JSON.parse(text);
    const sent = bodyOf(call);
    users.set(id, { id, name, email, role });
    if (Object.hasOwn(sent, 'password')) newPasswords.add(id);
    const fields = ['name', 'email', 'password', 'role'].filter(
      (field) => Object.hasOwn(sent, field) && (field !== 'role' || isAdmin(call)),
    );
    return success('UPDATE', callerOf(call), call.id, JSON.stringify({ fields }));
  },
  'DELETE /api/users/{id} 204': ({ users }, call) => {
    users.delete(Number(call.id));
    return success('DELETE', callerOf(call), call.id);
  },
};

const isAdmin = ({ headers }: Call) =>
  decodeJwt(String(headers.authorization).slice('Bearer '.length)).role === 'admin';

/** Enters a call by its answer. */
export const enter = (ledger: Ledger, call: Call, { status, text = '' }: Answer): void => {
  const deed = effects[`${call.route} ${status}`]?.(ledger, call, text);
  if (deed) ledger.deeds.push(deed);
};

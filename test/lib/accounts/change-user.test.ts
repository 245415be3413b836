import { randomUUID } from 'node:crypto';
import { decodeProtectedHeader } from 'jose';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { changeUser } from '../../../lib/accounts/change-user.ts';
import type { DomainError } from '../../../lib/ground/errors.ts';
import type { Belonging } from '../../../lib/keys/token.ts';
import { type Bearer, findBearer } from '../../../lib/options/sessions/bearer.ts';
import { beginSession } from '../../../lib/options/sessions/session-tokens.ts';
import type { UserChanges } from '../../../lib/users/fields.ts';
import type { StoredUser } from '../../../lib/users/item.ts';
import { hashPassword } from '../../../lib/users/password.ts';
import { findStoredUser } from '../../../lib/users/store.ts';
import { uniqueEmail } from '../../support/client.ts';
import { useOwnTables } from '../../support/own-tables.ts';
import { insertedUser } from '../../support/stored-user.ts';

await useOwnTables();
const environment = {
  JWT_SECRET: 'x'.repeat(40),
  SESSION_DAYS: '90',
  LOGIN_FAILURES_PER_ADDRESS: '0',
};
for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);

const source = { ip_address: '192.0.2.1', user_agent: 'test', request_id: randomUUID() };
const newUser = async (fields: Partial<StoredUser> = {}) =>
  insertedUser({ password_hash: await hashPassword('right'), ...fields });
const enter = async (user: StoredUser): Promise<() => Promise<Bearer>> => {
  const { token } = await beginSession(user, source);
  const find = () => findBearer(user.id, decodeProtectedHeader(token) as Partial<Belonging>);
  return async () => (await find()) ?? expect.unreachable();
};
const isOpen = (session: () => Promise<Bearer>) =>
  session().then(
    () => true,
    () => false,
  );

const taken = await newUser();
const [maker, admin, stranger] = [
  await newUser(),
  await newUser({ role: 'admin' }),
  await newUser(),
];
const callers = { 'the maker': maker, 'an admin': admin, 'a stranger': stranger } as const;
type Caller =
  | keyof typeof callers
  | 'the user'
  | 'the user, an admin'
  | 'the user, an admin until just now'
  | 'an admin, of an admin';

/** Claims of a caller's token that no longer agree with the store. */
const claimed: Partial<Record<Caller, Pick<StoredUser, 'role'>>> = {
  'the user, an admin until just now': { role: 'admin' },
};

const fresh = ['another address', () => ({ email: uniqueEmail() })] as const;
const capitals = ['capitals', ({ email }: StoredUser) => ({ email: email.toUpperCase() })] as const;
const present = [
  'the same address and a new name',
  ({ email }: StoredUser) => ({ email, name: 'New' }),
] as const;
const another = ['another password', () => ({ password: 'new' })] as const;
const same = ['the same password', () => ({ password: 'right' })] as const;
const both = [
  'another password and address',
  () => ({ password: 'new', email: uniqueEmail() }),
] as const;
const takenOne = ['a taken address', () => ({ password: 'new', email: taken.email })] as const;
const name = ['a name', () => ({ name: 'New' })] as const;
const toAdmin = ['the role admin', () => ({ role: 'admin' as const })] as const;
const toAdminAnew = [
  'the role admin and a password',
  () => ({ role: 'admin' as const, password: 'new' }),
] as const;
const toAuditor = ['the rights of an auditor', () => ({ auditor: true })] as const;
const toUser = ['the role user', () => ({ role: 'user' as const })] as const;

type Row = readonly [
  caller: Caller,
  what: string,
  changes: (user: StoredUser) => UserChanges,
  currentPassword: string | undefined,
  outcome: string,
  open: 'both' | 'its own' | 'no',
  made: 'stays' | 'ends',
];
const [required, wrong] = ['CURRENT_PASSWORD_REQUIRED', 'CURRENT_PASSWORD_WRONG'];

describe('A change of a user', () => {
  // biome-ignore format: a table
  const rows: readonly Row[] = [
    ['the user', ...another, undefined, required, 'both', 'stays'],
    ['the user', ...another, 'wrong', wrong, 'both', 'stays'],
    ['the user', ...another, 'right', 'done', 'its own', 'ends'],
    ['the user', ...same, 'right', 'done', 'its own', 'ends'],
    ['the user', ...fresh, undefined, required, 'both', 'stays'],
    ['the user', ...fresh, 'wrong', wrong, 'both', 'stays'],
    ['the user', ...fresh, 'right', 'done', 'its own', 'ends'],
    ['the user', ...both, 'right', 'done', 'its own', 'ends'],
    ['the user', ...capitals, undefined, required, 'both', 'stays'],
    ['the user', ...capitals, 'wrong', wrong, 'both', 'stays'],
    ['the user', ...capitals, 'right', 'done', 'its own', 'ends'],
    ['the user', ...takenOne, 'wrong', wrong, 'both', 'stays'],
    ['the user', ...takenOne, 'right', 'EMAIL_REGISTERED', 'both', 'stays'],
    ['the user', ...name, undefined, 'done', 'both', 'stays'],
    ['the user', ...present, undefined, 'done', 'both', 'stays'],
    ['the user', ...toAdmin, 'right', 'FORBIDDEN', 'both', 'stays'],
    ['the user, an admin until just now', ...toAdminAnew, undefined, 'FORBIDDEN', 'both', 'stays'],
    ['the user, an admin', ...another, undefined, required, 'both', 'stays'],
    ['the user, an admin', ...toUser, undefined, 'done', 'no', 'stays'],
    ['the maker', ...name, undefined, 'done', 'both', 'stays'],
    ['the maker', ...fresh, undefined, 'done', 'both', 'stays'],
    ['the maker', ...another, undefined, 'done', 'no', 'stays'],
    ['the maker', ...both, undefined, 'done', 'no', 'stays'],
    ['the maker', ...toAdmin, undefined, 'FORBIDDEN', 'both', 'stays'],
    ['a stranger', ...name, undefined, 'FORBIDDEN', 'both', 'stays'],
    ['an admin', ...name, undefined, 'done', 'both', 'stays'],
    ['an admin', ...fresh, undefined, 'done', 'both', 'ends'],
    ['an admin', ...same, undefined, 'done', 'no', 'ends'],
    ['an admin', ...toAdmin, undefined, 'done', 'both', 'ends'],
    ['an admin', ...toAuditor, undefined, 'done', 'both', 'ends'],
    ['an admin', 'no rights of an auditor', () => ({ auditor: false }), undefined, 'done', 'both', 'stays'],
    ['the user', ...toAuditor, 'right', 'FORBIDDEN', 'both', 'stays'],
    ['an admin, of an admin', ...toUser, undefined, 'done', 'no', 'stays'],
  ];
  const titled = rows.map((row) => {
    const [caller, what, , password = 'none', outcome, open, made] = row;
    const then = `sessions that stay open: ${open}; the permission of the maker ${made}`;
    return [
      `by ${caller} to ${what} (current password: ${password}) has the outcome ${outcome}; ${then}`,
      row,
    ] as const;
  });

  it.each(titled)('%s', async (_, row) => {
    const [caller, , changes, currentPassword, outcome, open, made] = row;
    const role =
      caller.endsWith('of an admin') || caller === 'the user, an admin' ? 'admin' : 'user';
    const user = await newUser({ role, made_by: maker.id });
    const [asking, other] = [await enter(user), await enter(user)];
    const by = callers[caller.replace(', of an admin', '') as keyof typeof callers] ?? user;
    const bearer = by === user ? await asking() : await (await enter(by))();

    const result = await changeUser({
      id: user.id,
      changes: changes(user),
      caller: { ...by, ...claimed[caller] },
      bearer,
      currentPassword,
      source,
    }).then(
      () => 'done',
      (error: DomainError) => error.code,
    );

    expect(result).toBe(outcome);
    const after = await findStoredUser(user.id);
    if (outcome !== 'done') expect(after).toMatchObject(user);
    expect(after?.made_by).toBe(made === 'stays' ? maker.id : undefined);
    const sessions = [await isOpen(asking), await isOpen(other)];
    expect(sessions).toEqual([open !== 'no', open === 'both']);
  });
});

describe('A change of a verified address', () => {
  // biome-ignore format: a table
  const rows: readonly (readonly [setting: string, caller: Caller, what: typeof fresh | typeof capitals | typeof present, mark: boolean | undefined])[] = [
    ['off', 'the user', fresh, undefined],
    ['off', 'the user', capitals, undefined],
    ['off', 'the maker', fresh, undefined],
    ['off', 'an admin', fresh, undefined],
    ['off', 'the user', present, true],
    ['off', 'an admin', present, true],
    ['on', 'the user', fresh, true],
    ['on', 'the maker', fresh, false],
    ['on', 'an admin', fresh, true],
  ];
  const titled = rows.map((row) => {
    const [setting, caller, [what], mark] = row;
    const left = mark === undefined ? 'no email_verified' : `email_verified ${mark}`;
    return [
      `to ${what} by ${caller}, while EMAIL_VERIFICATION is ${setting}, leaves ${left}`,
      row,
    ] as const;
  });

  it.each(titled)('%s', async (_, [setting, caller, [, changes], mark]) => {
    const user = await newUser({ made_by: maker.id, email_verified: true });
    const session = await enter(user);
    const by = callers[caller as keyof typeof callers] ?? user;
    vi.stubEnv('EMAIL_VERIFICATION', setting);
    onTestFinished(() => void vi.stubEnv('EMAIL_VERIFICATION', 'off'));

    await changeUser({
      id: user.id,
      changes: changes(user),
      caller: by,
      bearer: by === user ? await session() : await (await enter(by))(),
      currentPassword: 'right',
      source,
    });

    expect((await findStoredUser(user.id))?.email_verified).toBe(mark);
  });
});

import { afterEach, describe, expect, it, vi } from 'vitest';
import { type Asking, type Operation, requireAllowed } from '../../../lib/accounts/policy.ts';
import type { DomainError } from '../../../lib/ground/errors.ts';

afterEach(() => vi.unstubAllEnvs());

const nobody = { isSelf: false, mayBeMaker: false, lacksFactor: false };
const user = { ...nobody, role: 'user' } as const;
const admin = { ...nobody, role: 'admin' } as const;
/** The kinds of callers, as columns. */
const callers = {
  'nobody known': nobody,
  'another user': user,
  'the user': { ...user, isSelf: true },
  'who made the user': { ...user, mayBeMaker: true },
  'an admin': admin,
  'the admin': { ...admin, isSelf: true },
} satisfies Readonly<Record<string, Asking>>;
const names = Object.keys(callers) as (keyof typeof callers)[];

const outcomeOf = (operation: Operation, asking: Asking, given = {}): string => {
  try {
    requireAllowed(operation, asking, given);
    return 'yes';
  } catch (error) {
    return (error as DomainError).code;
  }
};
const who = (operation: Operation, given?: object) =>
  names.filter((name) => outcomeOf(operation, callers[name], given) === 'yes').join(', ');

const admins = 'an admin, the admin';
const everyUser = 'another user, the user, who made the user, an admin, the admin';
const everybody = `nobody known, ${everyUser}`;
const selves = 'the user, an admin, the admin';

describe('Who may', () => {
  it.each<[Operation, object, string, string]>([
    ['public', {}, everybody, everybody],
    ['own', {}, everyUser, everyUser],
    ['listUsers', {}, everyUser, everyUser],
    ['listUsers', { search: 'a' }, admins, admins],
    ['createUser', {}, everyUser, admins],
    ['createUser', { role: 'user' }, everyUser, admins],
    ['createUser', { role: 'admin' }, admins, admins],
    ['readUser', {}, everyUser, selves],
    ['changeUser', { name: 'n' }, 'the user, who made the user, an admin, the admin', selves],
    ['changeUser', { role: 'user' }, 'the user, who made the user, an admin, the admin', selves],
    ['changeUser', { role: 'admin' }, admins, admins],
    ['changeUser', { role: 'root' }, admins, admins],
    ['changeUser', { role: 7 }, admins, admins],
    ['sessionsOf', {}, selves, selves],
    ['administer', {}, admins, admins],
    ['administerOthers', {}, 'an admin', 'an admin'],
  ])('%s, asking for %o: while accounts are open %s; while they are private %s', (...row) => {
    const [operation, given, open, closed] = row;

    const found = who(operation, given);
    vi.stubEnv('ACCOUNTS', 'private');

    expect([found, who(operation, given)]).toEqual([open, closed]);
  });
});

describe('An admin who lacks a second factor', () => {
  const lacking = { ...user, lacksFactor: true };
  const self = { ...lacking, isSelf: true };

  it.each<[string, Operation, Asking, object, string]>([
    ['does what a user does', 'readUser', lacking, {}, 'yes'],
    ['changes its own name', 'changeUser', self, { name: 'n' }, 'yes'],
    ['names no role of its own', 'changeUser', self, { role: 'user' }, 'SECOND_FACTOR_REQUIRED'],
    ['is told why it is no admin', 'administer', lacking, {}, 'SECOND_FACTOR_REQUIRED'],
    ['changes nobody else', 'changeUser', lacking, {}, 'SECOND_FACTOR_REQUIRED'],
  ])('%s', (_, operation, asking, given, expected) => {
    expect(outcomeOf(operation, asking, given)).toBe(expected);
  });

  it('is told so, and a user is not', () => {
    expect(outcomeOf('administer', user)).toBe('FORBIDDEN');
  });
});

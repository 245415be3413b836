import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Asking, type Operation, requireAllowed } from '../../../lib/accounts/policy.ts';
import { isPublic } from '../../../lib/contract/contract.ts';
import type { DomainError } from '../../../lib/ground/errors.ts';

// There are auditors only if there are sessions.
beforeEach(() => void vi.stubEnv('SESSION_DAYS', '90'));
afterEach(() => vi.unstubAllEnvs());

const nobody = { isSelf: false, mayBeMaker: false };
const user = { ...nobody, role: 'user', isAuditor: false } as const;
const auditor = { ...user, isAuditor: true } as const;
const admin = { ...user, role: 'admin' } as const;
/** The kinds of callers, which are the columns. */
const callers = {
  'nobody known': nobody,
  'another user': user,
  'the user': { ...user, isSelf: true },
  'who made the user': { ...user, mayBeMaker: true },
  'an auditor': auditor,
  'the auditor': { ...auditor, isSelf: true },
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
const readers = `an auditor, the auditor, ${admins}`;
const everyUser = `another user, the user, who made the user, ${readers}`;
const everybody = `nobody known, ${everyUser}`;
const selves = `the user, the auditor, ${admins}`;
const changers = `the user, who made the user, the auditor, ${admins}`;

describe('Who may', () => {
  it.each<[Operation, object, string, string]>([
    ['public', {}, everybody, everybody],
    ['own', {}, everyUser, everyUser],
    ['listUsers', {}, everyUser, everyUser],
    ['listUsers', { search: 'a' }, readers, readers],
    ['createUser', {}, everyUser, admins],
    ['createUser', { role: 'user' }, everyUser, admins],
    ['createUser', { role: 'admin' }, admins, admins],
    ['readUser', {}, everyUser, `the user, ${readers}`],
    ['changeUser', { name: 'n' }, changers, selves],
    ['changeUser', { role: 'user' }, changers, selves],
    ['changeUser', { role: 'admin' }, admins, admins],
    ['changeUser', { role: 'root' }, admins, admins],
    ['changeUser', { role: 7 }, admins, admins],
    ['changeUser', { auditor: true }, `the auditor, ${admins}`, `the auditor, ${admins}`],
    ['changeUser', { auditor: false }, `the user, ${admins}`, `the user, ${admins}`],
    ['changeUser', { auditor: null }, admins, admins],
    ['changeUser', { role: 'admin', auditor: true }, admins, admins],
    ['sessionsOf', {}, selves, selves],
    ['audit', {}, readers, readers],
    ['administer', {}, admins, admins],
    ['administerOthers', {}, 'an admin', 'an admin'],
  ])('%s, asking for %o: while accounts are open %s; while they are private %s', (...row) => {
    const [operation, given, open, closed] = row;

    const found = who(operation, given);
    vi.stubEnv('ACCOUNTS', 'private');

    expect([found, who(operation, given)]).toEqual([open, closed]);
  });

  it('ask for `auditor` where there are no sessions: everybody who may change the user', () => {
    vi.stubEnv('SESSION_DAYS', '0');

    expect(who('changeUser', { auditor: 7 })).toBe(changers);
  });
});

it('Only what needs no token is for nobody known', () => {
  const operations = [
    ...([
      'public',
      'register',
      'own',
      'listUsers',
      'createUser',
      'readUser',
      'changeUser',
    ] as const),
    ...(['sessionsOf', 'audit', 'administer', 'administerOthers'] as const),
  ];

  expect(operations.filter((each) => who(each).includes('nobody known'))).toEqual(
    operations.filter(isPublic),
  );
});

describe('Who may name attributes', () => {
  const [own, ofAdmins] = [{ attributes: { locale: 'de' } }, { attributes: { plan: 'pro' } }];
  const both = { attributes: { ...own.attributes, ...ofAdmins.attributes } };
  const undeclared = { attributes: { other: 1 } };

  it.each<[Operation, object, string]>([
    ['register', own, everybody],
    ['register', undeclared, everybody],
    ['register', ofAdmins, ''],
    ['register', both, ''],
    ['createUser', own, everyUser],
    ['createUser', undeclared, everyUser],
    ['createUser', ofAdmins, admins],
    ['changeUser', own, selves],
    ['changeUser', undeclared, changers],
    ['changeUser', { attributes: {} }, changers],
    ['changeUser', ofAdmins, admins],
    ['changeUser', { attributes: { plan: null } }, admins],
    ['changeUser', both, admins],
    ['changeUser', { attributes: ['plan'] }, changers],
    ['listUsers', { attributes: 'true' }, readers],
    ['listUsers', { attributes: 'yes' }, readers],
  ])('%s, asking for %o: %s; and where none are declared, whoever may do it at all', (...row) => {
    const [operation, given, allowed] = row;
    const all = who(operation);

    vi.stubEnv(
      'USER_ATTRIBUTES',
      '[{"name":"locale","type":"text","writer":"user"},{"name":"plan","type":"text"}]',
    );

    expect(who(operation, given)).toBe(allowed);
    vi.stubEnv('USER_ATTRIBUTES', '');
    expect(who(operation, given)).toBe(all);
  });
});

describe('Who may create a user by an invitation', () => {
  it.each<[unknown, string, string]>([
    [true, admins, everyUser],
    ['yes', admins, everyUser],
    [null, admins, everyUser],
    [false, everyUser, everyUser],
  ])(
    'by invite: %o is, where mails are sent, %s; elsewhere, where it means nothing, %s',
    (...row) => {
      const [invite, withMails, without] = row;

      const found = who('createUser', { invite });
      vi.stubEnv('MAIL_FROM', 'accounts@example.com');

      expect([who('createUser', { invite }), found]).toEqual([withMails, without]);
    },
  );
});

describe('Where a second factor is lacking,', () => {
  const withFactor = { role: 'admin', isAuditor: false } as const;
  const lacking = { ...user, withFactor };
  const self = { ...lacking, isSelf: true };
  const reader = { ...user, withFactor: { role: 'user', isAuditor: true } } as const;
  const ownReader = { ...reader, isSelf: true };

  it.each<[string, Operation, Asking, object, string]>([
    ['an admin does what a user does', 'readUser', lacking, {}, 'yes'],
    ['an admin changes its own name', 'changeUser', self, { name: 'n' }, 'yes'],
    ['an admin names no role', 'changeUser', self, { role: 'admin' }, 'SECOND_FACTOR_REQUIRED'],
    ['an admin names no other', 'changeUser', self, { role: 'user' }, 'SECOND_FACTOR_REQUIRED'],
    ['an admin keeps being no auditor', 'changeUser', self, { auditor: false }, 'yes'],
    ['an admin is no auditor', 'changeUser', self, { auditor: true }, 'SECOND_FACTOR_REQUIRED'],
    ['an admin is told why it is none', 'administer', lacking, {}, 'SECOND_FACTOR_REQUIRED'],
    ['an admin changes nobody else', 'changeUser', lacking, {}, 'SECOND_FACTOR_REQUIRED'],
    ['an auditor is told why it is none', 'audit', reader, {}, 'SECOND_FACTOR_REQUIRED'],
    ['an auditor searches nobody', 'listUsers', reader, { search: 'a' }, 'SECOND_FACTOR_REQUIRED'],
    ['an auditor keeps it', 'changeUser', ownReader, { role: 'user', auditor: true }, 'yes'],
    ['an auditor changes nobody else', 'changeUser', reader, {}, 'FORBIDDEN'],
    ['an auditor does not end it', 'changeUser', ownReader, { auditor: false }, 'FORBIDDEN'],
    ['an auditor is no admin with one either', 'administer', reader, {}, 'FORBIDDEN'],
    ['a user is told nothing of it', 'administer', { ...user, withFactor: user }, {}, 'FORBIDDEN'],
  ])('%s', (_, operation, asking, given, expected) => {
    expect(outcomeOf(operation, asking, given)).toBe(expected);
  });
});

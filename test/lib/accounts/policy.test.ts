import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Asking, type Operation, requireAllowed } from '../../../lib/accounts/policy.ts';
import { isPublic } from '../../../lib/contract/contract.ts';
import type { DomainError } from '../../../lib/ground/errors.ts';
import { scopes } from '../../../lib/options/machines/machine.ts';

// There are auditors only if there are sessions.
beforeEach(() => void vi.stubEnv('SESSION_DAYS', '90'));
afterEach(() => vi.unstubAllEnvs());

const nobody = { isSelf: false, mayBeMaker: false };
const user = { ...nobody, role: 'user', isAuditor: false } as const;
const auditor = { ...user, isAuditor: true } as const;
const admin = { ...user, role: 'admin' } as const;
/** The kinds of callers, which are the columns. */
const callers = {
  'an unknown caller': nobody,
  'another user': user,
  'the user': { ...user, isSelf: true },
  'the maker of the user': { ...user, mayBeMaker: true },
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
const everyUser = `another user, the user, the maker of the user, ${readers}`;
const everybody = `an unknown caller, ${everyUser}`;
const selves = `the user, the auditor, ${admins}`;
const changers = `the user, the maker of the user, the auditor, ${admins}`;

describe('The policy', () => {
  it.each<[Operation, object, string, string]>([
    ['public', {}, everybody, everybody],
    ['own', {}, everyUser, everyUser],
    ['listUsers', { status: 'no' }, readers, readers],
    ['listUsers', { auditor: 'no' }, readers, readers],
    ['listUsers', {}, everyUser, everyUser],
    ['listUsers', { search: 'a' }, readers, readers],
    ['listUsers', { seenBefore: '2026-08-30' }, readers, readers],
    ['listUsers', { seenBefore: 'x' }, readers, readers],
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
    ['inviteUser', {}, admins, admins],
    ['audit', {}, readers, readers],
    ['requestCheck', {}, readers, readers],
    ['requestCheck', { whole: false }, readers, readers],
    ['requestCheck', { whole: true }, admins, admins],
    ['postEntries', {}, '', ''],
    ['readMachines', {}, readers, readers],
    ['machines', {}, admins, admins],
    ['administer', {}, admins, admins],
    ['administerOthers', {}, 'an admin', 'an admin'],
  ])('allows %s with %o to: %s; while accounts are private, to: %s', (...row) => {
    const [operation, given, open, closed] = row;

    const found = who(operation, given);
    vi.stubEnv('ACCOUNTS', 'private');

    expect([found, who(operation, given)]).toEqual([open, closed]);
  });

  it('lets everybody who may change or list users send `auditor` where there are no sessions', () => {
    vi.stubEnv('SESSION_DAYS', '0');

    expect(who('changeUser', { auditor: 7 })).toBe(changers);
    expect(who('listUsers', { auditor: 'true' })).toBe(everyUser);
  });

  it('allows only readers to list users by `status` as soon as an option has one', () => {
    vi.stubEnv('SESSION_DAYS', '0');

    const without = who('listUsers', { status: 'invited' });
    vi.stubEnv('MAIL_FROM', 'accounts@example.com');

    expect([without, who('listUsers', { status: 'invited' })]).toEqual([everyUser, readers]);
  });

  it('lets every user send `seenBefore` where there are no sessions, and where it means nothing', () => {
    vi.stubEnv('SESSION_DAYS', '0');

    expect(who('listUsers', { seenBefore: 'x' })).toBe(everyUser);
  });
});

it('Only the operations that need no token are allowed to an unknown caller', () => {
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
    ...(['sessionsOf', 'inviteUser', 'audit', 'requestCheck', 'postEntries'] as const),
    ...(['readMachines', 'machines', 'administer', 'administerOthers'] as const),
  ];

  expect(operations.filter((each) => who(each).includes('an unknown caller'))).toEqual(
    operations.filter(isPublic),
  );
});

describe('The policy on machines', () => {
  const scopesThatAllow = (operation: Operation, given: object) =>
    scopes.filter((scope) => outcomeOf(operation, { ...nobody, scopes: [scope] }, given) === 'yes');
  const write = ['users:write'];

  it.each<[Operation, object, readonly string[]]>([
    ['own', {}, []],
    ['listUsers', { status: 'invited', auditor: 'true' }, ['users:read']],
    ['listUsers', {}, ['users:read']],
    ['listUsers', { search: 'a', attributes: 'true' }, ['users:read']],
    ['listUsers', { seenBefore: '2026-08-30' }, ['users:read']],
    ['readUser', {}, ['users:read']],
    ['createUser', { name: 'n', email: 'e', password: 'p' }, write],
    ['createUser', { role: 'user' }, write],
    ['createUser', { invite: true, attributes: { plan: 'pro' } }, write],
    ['createUser', { role: 'admin' }, []],
    ['changeUser', { name: 'n', attributes: { plan: 'pro', locale: 'de' } }, write],
    ['changeUser', { role: 'user' }, []],
    ['changeUser', { role: null }, []],
    ['changeUser', { password: 'p' }, []],
    ['changeUser', { email: 'e' }, []],
    ['changeUser', { name: 'n', email: null }, []],
    ['changeUser', { auditor: false }, []],
    ['inviteUser', {}, write],
    ['sessionsOf', {}, []],
    ['audit', {}, ['audit:read']],
    ['requestCheck', {}, []],
    ['requestCheck', { whole: true }, []],
    ['postEntries', {}, ['audit:write']],
    ['readMachines', {}, []],
    ['machines', {}, []],
    ['administer', {}, []],
    ['administerOthers', {}, []],
  ])('allows %s with %o to the scopes %j, whether or not accounts are private', (...row) => {
    const [operation, given, allowed] = row;
    vi.stubEnv('MAIL_FROM', 'accounts@example.com');
    vi.stubEnv('USER_ATTRIBUTES', '[{"name":"plan","type":"text"}]');

    const open = scopesThatAllow(operation, given);
    vi.stubEnv('ACCOUNTS', 'private');

    expect([open, scopesThatAllow(operation, given)]).toEqual([allowed, allowed]);
  });

  it('allows a machine what each of its scopes allows', () => {
    const asking = { ...nobody, scopes: ['users:read', 'audit:read'] } as const;

    expect(outcomeOf('readUser', asking)).toBe('yes');
    expect(outcomeOf('audit', asking)).toBe('yes');
    expect(outcomeOf('createUser', asking)).toBe('FORBIDDEN');
  });

  it('allows a machine to send `auditor` where there are no sessions, and where it means nothing', () => {
    vi.stubEnv('SESSION_DAYS', '0');

    expect(scopesThatAllow('changeUser', { auditor: true })).toEqual(write);
  });
});

describe('The policy on attributes', () => {
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
  ])(
    'allows %s with %o to [%s]; where no attributes are declared, to all who may call it',
    (...row) => {
      const [operation, given, allowed] = row;
      const all = who(operation);

      vi.stubEnv(
        'USER_ATTRIBUTES',
        '[{"name":"locale","type":"text","writer":"user"},{"name":"plan","type":"text"}]',
      );

      expect(who(operation, given)).toBe(allowed);
      vi.stubEnv('USER_ATTRIBUTES', '');
      expect(who(operation, given)).toBe(all);
    },
  );
});

describe('The policy on invitations', () => {
  it.each<[unknown, string, string]>([
    [true, admins, everyUser],
    ['yes', admins, everyUser],
    [null, admins, everyUser],
    [false, everyUser, everyUser],
  ])('allows createUser with invite: %o to: %s; where no mails are sent, to: %s', (...row) => {
    const [invite, withMails, without] = row;

    const found = who('createUser', { invite });
    vi.stubEnv('MAIL_FROM', 'accounts@example.com');

    expect([who('createUser', { invite }), found]).toEqual([withMails, without]);
  });
});

describe('Where a second factor is lacking,', () => {
  const withFactor = { role: 'admin', isAuditor: false } as const;
  const lacking = { ...user, withFactor };
  const self = { ...lacking, isSelf: true };
  const reader = { ...user, withFactor: { role: 'user', isAuditor: true } } as const;
  const ownReader = { ...reader, isSelf: true };

  it.each<[string, Operation, Asking, object, string]>([
    ['an admin may do what a user may do', 'readUser', lacking, {}, 'yes'],
    ['an admin may change their own name', 'changeUser', self, { name: 'n' }, 'yes'],
    [
      'an admin may not send the role admin',
      'changeUser',
      self,
      { role: 'admin' },
      'SECOND_FACTOR_REQUIRED',
    ],
    [
      'an admin may not send the role user',
      'changeUser',
      self,
      { role: 'user' },
      'SECOND_FACTOR_REQUIRED',
    ],
    ['an admin may send back auditor: false', 'changeUser', self, { auditor: false }, 'yes'],
    [
      'an admin may not become an auditor',
      'changeUser',
      self,
      { auditor: true },
      'SECOND_FACTOR_REQUIRED',
    ],
    [
      'an admin is told why the rights of an admin are missing',
      'administer',
      lacking,
      {},
      'SECOND_FACTOR_REQUIRED',
    ],
    ['an admin may not change another user', 'changeUser', lacking, {}, 'SECOND_FACTOR_REQUIRED'],
    [
      'an auditor is told why the rights of an auditor are missing',
      'audit',
      reader,
      {},
      'SECOND_FACTOR_REQUIRED',
    ],
    [
      'an auditor may not search users',
      'listUsers',
      reader,
      { search: 'a' },
      'SECOND_FACTOR_REQUIRED',
    ],
    [
      'an auditor may send back role and auditor',
      'changeUser',
      ownReader,
      { role: 'user', auditor: true },
      'yes',
    ],
    ['an auditor may not change another user', 'changeUser', reader, {}, 'FORBIDDEN'],
    [
      'an auditor may not send auditor: false',
      'changeUser',
      ownReader,
      { auditor: false },
      'FORBIDDEN',
    ],
    [
      'an auditor is refused what a second factor would not allow either',
      'administer',
      reader,
      {},
      'FORBIDDEN',
    ],
    [
      'a user is told nothing about a second factor',
      'administer',
      { ...user, withFactor: user },
      {},
      'FORBIDDEN',
    ],
  ])('%s', (_, operation, asking, given, expected) => {
    expect(outcomeOf(operation, asking, given)).toBe(expected);
  });
});

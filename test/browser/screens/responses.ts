/** The responses of the API, so that screens have the same data at the same time. */
import type {
  AuditEntry,
  AuditSealSummary,
  Identity,
  Machine,
  Passkey,
  SessionOfUser,
  User,
  UserDetails,
} from '../../../functions/client/paths.ts';

/** The time of all these data. */
export const now = Date.UTC(2026, 10, 22, 12);
const hour = 3_600_000;
export const timeBefore = (hours: number) => new Date(now - hours * hour).toISOString();

const user = (id: number, name: string, email: string, more: Partial<User> = {}): User => ({
  id,
  name,
  email,
  role: 'user',
  created_at: timeBefore(1000 - id),
  email_verified: true,
  ...more,
});

const admin = user(1, 'Ada King', 'ada.king@accounts.example.com', { role: 'admin' });
const users: readonly User[] = [
  admin,
  user(2, 'Grace Hopper', 'grace.hopper@accounts.example.com', {
    email_verified: false,
    pending_email: 'grace.hopper@another.example.com',
  }),
  user(3, 'Hubert Blaine Wolfeschlegelsteinhausenbergerdorff and a long line of others', 'h@b.co', {
    suspended_at: timeBefore(3),
  }),
  user(4, 'N'.repeat(100), 'somebody@accounts.example.com', { role: 'admin', auditor: true }),
  user(5, 'Bartholomew', `${'long.address.'.repeat(13)}@accounts.example.com`),
];

const identity = (id: string, more: Partial<Identity> = {}): Identity => ({
  id,
  issuer: 'https://accounts.google.com',
  email: 'grace@google.example.com',
  created_at: timeBefore(300),
  ...more,
});

const passkeys: readonly Passkey[] = ['Telephone', 'N'.repeat(100)].map((name, index) => ({
  id: name,
  name,
  created_at: timeBefore(300),
  last_used_at: index > 0 ? timeBefore(2) : null,
  backed_up: false,
  credential_id: name,
  rp_id: index > 0 ? 'old.example.com' : 'example.com',
}));

const isAdmin = ({ role }: User): boolean => role === 'admin';

const details = (each: User): UserDetails => ({
  ...each,
  passkeys: each.id < 3 ? [...passkeys] : [],
  second_factor: { enabled: each.id < 3, recovery_codes_left: each.id < 3 ? 8 : 0 },
  identities:
    each.id < 3
      ? [identity('a'), identity('b', { issuer: `https://${'n'.repeat(60)}.example`, email: null })]
      : [],
});

const machine = (id: number, name: string, more: Partial<Machine> = {}): Machine => ({
  id,
  name,
  scopes: ['audit:write'],
  expires_at: null,
  created_at: timeBefore(24 * 200),
  made_by: 1,
  last_used_on: '2026-11-22',
  keys: [{ created_at: timeBefore(24 * 200), expires_at: null }],
  ...more,
});

const machines: readonly Machine[] = [
  machine(1, 'billing', {
    keys: [
      { created_at: timeBefore(2), expires_at: null },
      { created_at: timeBefore(24 * 200), expires_at: timeBefore(-22) },
    ],
  }),
  machine(2, 'Machine billing #1', { scopes: ['users:read', 'users:write'], last_used_on: null }),
  machine(3, 'N'.repeat(100), {
    scopes: ['audit:write', 'audit:read', 'users:read', 'users:write', 'client-address'],
    expires_at: timeBefore(5),
    last_used_on: '2026-08-01',
  }),
];

const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';

const entry = (id: number, more: Partial<AuditEntry> = {}): AuditEntry => ({
  id: 4_611_686_018_427_000 + id,
  user_id: 2,
  action: 'LOGIN',
  resource: 'users',
  resource_id: '2',
  ip_address: '192.0.2.17',
  user_agent: firefox,
  result: 'SUCCESS',
  details: null,
  created_at: timeBefore(id * 7),
  machine_id: null,
  occurred_at: null,
  ...more,
});

export const entries: readonly AuditEntry[] = [
  entry(1, {
    action: 'UPDATE',
    user_id: 1,
    details: `{"fields":["name","role"],"name":{"from":"${'N'.repeat(100)}","to":"Grace Hopper"},"role":{"from":"admin","to":"user"}}`,
  }),
  entry(2, { result: 'FAILURE', details: '{"reason":"wrong_password"}' }),
  entry(3, { user_id: 3, resource_id: '4', action: 'DELETE' }),
  entry(4, { user_id: 5, ip_address: '2001:db8:85a3:8d3:1319:8a2e:370:7348' }),
  entry(5, { user_id: null, resource_id: null, ip_address: null, user_agent: null }),
  entry(6, {
    action: 'DELETE',
    user_id: 404,
    resource_id: '404',
    details: '{"name":"Alan Turing","email":"alan.turing@accounts.example.com","role":"user"}',
    user_agent: 'x'.repeat(300),
  }),
  entry(7, {
    action: 'EXPORT',
    details: '{"format":"csv","filter":{"action":"LOGIN","order":"desc"},"entries":812}',
    resource: 'audit-logs',
    resource_id: null,
  }),
  entry(8, {
    action: 'UPDATE',
    resource: 'shop.orders',
    resource_id: 'Machine billing #1 did it',
    details: '{"status":{"from":"paid","to":"shipped"}}',
    machine_id: 3,
    occurred_at: timeBefore(57),
  }),
  entry(9, { user_id: null, action: 'CREATE', machine_id: 1 }),
  entry(10, { user_id: null, resource_id: null, result: 'FAILURE', machine_id: 404 }),
];

const attacker = { ip_address: '203.0.113.66', user_agent: 'python-requests/2.32.3' };

/** The newest entries, which were written after the attack. */
const after: readonly Partial<AuditEntry>[] = [
  {
    user_id: 1,
    action: 'EXPORT',
    resource: 'audit-logs',
    resource_id: null,
    details: '{"format":"csv","entries":58}',
  },
  { user_id: 1, action: 'UPDATE', details: '{"suspended":true}' },
  { user_id: 1, resource_id: '1' },
  { ...attacker, details: null },
];

/** The trail after an attack of an hour, newest first. */
const attack: readonly AuditEntry[] = Array.from({ length: 90 }, (_, index) => {
  const created_at = timeBefore(index / 45);
  const isQuiet = index >= 62 && index % 3 > 0;
  const reasons = [
    'wrong_password',
    'unknown_email',
    `wrong_password","waits_until":"${timeBefore(-1)}`,
  ];
  const user_id = index % 3 === 1 ? null : 2;
  const failure = {
    ...attacker,
    user_id,
    resource_id: user_id === null ? null : '2',
    result: 'FAILURE',
    details: `{"reason":"${reasons[index % 3]}"}`,
  } as const;
  const quiet = { user_id: 5, resource_id: '5' };
  return entry(index, { ...(after[index] ?? (isQuiet ? quiet : failure)), created_at });
});

/** Entries with one field whose value the service never writes, as the API shows them. */
export const junk: readonly object[] = Object.keys(entry(0)).flatMap((name, field) =>
  [null, 'not a time', '', 7].map((value, index) => ({
    ...entry(10 * field + index),
    [name]: value,
  })),
);

/** A time whose text is the longest possible, in the language and the time zone of the tests. */
const wideTime = (year: number) => `${year}-12-26T22:58:58.000Z`;

const session = (id: string, more: Partial<SessionOfUser> = {}): SessionOfUser => ({
  id,
  created_at: timeBefore(50),
  last_used_at: wideTime(2025),
  expires_at: wideTime(2026),
  ip_address: '192.0.2.17',
  user_agent: firefox,
  current: false,
  ...more,
});

const seal: AuditSealSummary = {
  key: '1f2e3d4c5b6a79881f2e3d4c5b6a79881f2e3d4c5b6a79881f2e3d4c5b6a7988',
  interval: 60,
  newest: { number: 7, at: timeBefore(0.1), until: timeBefore(0.05), count: 3 },
  behind: null,
  check: {
    at: timeBefore(0.2),
    until: timeBefore(0.22),
    entries: 4980,
    total: 5130,
    next: timeBefore(-0.6),
    recent: true,
    findings: 0,
    named: [],
    found: timeBefore(24 * 40),
  },
  days: { table: 90, lock: 2555, archive: 0 },
  whole: { asked_at: timeBefore(50), checked: 7, of: 7, ended_at: timeBefore(49) },
};

const list = (query: URLSearchParams): readonly object[] => {
  const [by, about] = [query.get('userId'), query.get('about')];
  if ([by, about].includes('666')) return junk;
  if (query.has('since') && by === null) return attack;
  return entries.filter(
    ({ user_id, resource_id }) =>
      (by === null || String(user_id) === by) &&
      (about === null || [String(user_id), resource_id].includes(about)),
  );
};

/** A seal whose check has findings, and whose whole check is under way. */
export const sealWithFindings: AuditSealSummary = {
  ...seal,
  whole: { asked_at: timeBefore(2), checked: 1234, of: 4321, ended_at: null },
  check: seal.check && {
    ...seal.check,
    findings: 12,
    named: [
      { kind: 'changed', subject: String(entries[0]?.id), at: timeBefore(0.2) },
      { kind: 'deleted', subject: '115192872960001', at: timeBefore(20) },
      { kind: 'missing', subject: 'file 7 (9999999992.ndjson.gz)', at: timeBefore(0.2) },
      { kind: 'unsigned', subject: 'files 1000000000 to 2000000000', at: timeBefore(700) },
    ],
  },
};

/** The body of each response, by its path. */
const bodies: Readonly<Record<string, (query: URLSearchParams) => unknown>> = {
  '/api/users': (query) => {
    if (query.get('role') === 'admin') return users.filter(isAdmin).map(details);
    return query.get('order') === 'desc' ? [null] : users;
  },
  '/api/users/666': () => ({ ...admin, id: 666, created_at: 'not a time' }),
  '/api/users/666/sessions': () => ({ data: [session('a', { expires_at: 'not a time' })] }),
  '/api/admin/audit-logs': (query) => ({ data: list(query) }),
  '/api/admin/audit-seal': () => seal,
  '/api/admin/settings': () => ({
    data: [
      { name: 'accounts', value: 'private', default: 'open' },
      { name: 'sessionDays', value: 90, default: 0 },
      { name: 'mailFrom', value: `My App <${'n'.repeat(50)}@accounts.example.com>`, default: '' },
      { name: 'auditDetail', value: 'standard', default: 'standard' },
    ],
  }),
  '/api/machines': () => ({ data: machines }),
  '/api/machines/1/keys': () => ({ ...machines[0], key: `mk_1_${'N'.repeat(49)}` }),
  '/api/second-factor': () => ({ enabled: true, recovery_codes_left: 8 }),
  '/api/identities': () => ({ data: details(admin).identities }),
  '/api/passkeys': () => ({ data: passkeys, user_handle: null, rp_id: 'example.com' }),
  ...Object.fromEntries(users.map((each) => [`/api/users/${each.id}`, () => details(each)])),
  ...Object.fromEntries(
    users.map(({ id }) => [
      `/api/users/${id}/sessions`,
      () => ({
        data: [session('a', { current: id === 1 }), session('b', { user_agent: 'app/1' })],
      }),
    ]),
  ),
};

/** The response for a path without a body here. */
const missing = { code: 'USER_NOT_FOUND', title: 'User not found', status: 404 };

/** The response to a request for a path of the API. */
export const answerTo = ({ pathname, searchParams }: URL): { status: number; json: unknown } => {
  const body = bodies[pathname];
  return { status: body ? 200 : 404, json: body?.(searchParams) ?? missing };
};

const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const iat = now / 1000;
/** The token of an admin, with the parts that the console reads. */
export const token = `.${base64({ ...admin, iat, exp: iat + 86_400 })}.`;

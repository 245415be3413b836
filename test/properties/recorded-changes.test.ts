import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, inject, it } from 'vitest';
import { uniqueAgent } from '../support/acceptance.ts';
import { register, uniqueEmail } from '../support/client.ts';
import { proxiedServiceForThisFile } from '../support/proxied-service.ts';
import { type Fault, faults } from '../support/proxy.ts';
import { counted, holds } from '../support/runs.ts';
import { scan, scanAudit, usersIn } from '../support/stored-items.ts';

const { proxy, service, admin: token } = await proxiedServiceForThisFile();
const { USERS_TABLE = '', AUDIT_TABLE = '' } = service.environment;

const kinds = ['register', 'create', 'name', 'email', 'role', 'password', 'delete'] as const;
type Kind = (typeof kinds)[number];

/** What becomes of the requests to the users table, from the first on; the others pass. */
const fates = {
  pass: faults.pass,
  lose: faults.lose,
  reset: faults.reset,
  truncate: faults.truncate,
  throttle: faults.throttle,
  conflict: faults.conflict,
  internalError: faults.internalError,
} as const satisfies Record<string, Fault>;
type Fate = keyof typeof fates;

const newUser = () => ({ name: 'n', email: uniqueEmail(), password: 'pass-word' });

const requestOf = (kind: Kind, id: number): readonly [string, string, object?] => {
  switch (kind) {
    case 'register':
      return ['POST', '/api/auth/register', newUser()];
    case 'create':
      return ['POST', '/api/users', { ...newUser(), role: 'admin' }];
    case 'delete':
      return ['DELETE', `/api/users/${id}`];
    case 'email':
      return ['PUT', `/api/users/${id}`, { email: uniqueEmail() }];
    case 'role':
      return ['PUT', `/api/users/${id}`, { role: 'admin' }];
    default:
      return ['PUT', `/api/users/${id}`, { [kind]: 'Changed' }];
  }
};

const storedUsers = async () => usersIn(await scan(inject('engine'), USERS_TABLE));

/** The ids of users who are in one list and not, as they are there, in the other. */
const differing = (
  one: Awaited<ReturnType<typeof storedUsers>>,
  other: Awaited<ReturnType<typeof storedUsers>>,
) => one.filter((user) => !other.some((same) => isDeepStrictEqual(user, same)));

interface Case {
  readonly kind: Kind;
  readonly planned: readonly Fate[];
}

const perform = counted(async ({ kind, planned }: Case) => {
  const { id } = await register(service.api);
  const before = await storedUsers();
  const agent = uniqueAgent();
  const [method, path, json] = requestOf(kind, id);
  proxy.impose(...planned.map((fate) => ({ fault: fates[fate], table: USERS_TABLE, times: 1 })));
  const { status } = await service.api(method, path, {
    token,
    headers: { 'user-agent': agent },
    ...(json ? { json } : {}),
  });
  proxy.impose();
  const after = await storedUsers();
  const changed = [...differing(before, after), ...differing(after, before)];
  const entries = (await scanAudit(inject('engine'), AUDIT_TABLE)).filter(
    ({ user_agent }) => user_agent === agent,
  );
  return { status, changed: new Set(changed.map((user) => String(user.id))), entries };
});

it('A change leaves one entry that names the changed user, whichever requests to DynamoDB fail', async () => {
  const fate = fc.constantFrom(...(Object.keys(fates) as Fate[]));
  const cases = fc.record({
    kind: fc.constantFrom(...kinds),
    planned: fc.array(fate, { maxLength: 8, size: 'max' }),
  });

  const expectRecorded = async (tried: Case) => {
    const { status, changed, entries } = await perform(tried);
    const [entry, ...more] = entries;
    const { role, outcome } = JSON.parse(entry?.details ?? '{}');

    expect(more).toEqual([]);
    for (const id of changed) expect(id).toBe(entry?.resource_id);
    if (status >= 300) {
      expect(entry?.result).toBe('FAILURE');
      expect([undefined, 'unknown'].slice(changed.size)).toContain(outcome);
      return;
    }
    expect([entry?.result, changed.size]).toEqual(['SUCCESS', 1]);
    const roles: Partial<Record<Kind, unknown>> = {
      create: 'admin',
      role: { from: 'user', to: 'admin' },
    };
    expect(role).toEqual(roles[tried.kind]);
  };

  await holds(70, fc.asyncProperty(cases, expectRecorded));
});

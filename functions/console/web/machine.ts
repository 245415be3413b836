/** Machines as their screen shows and changes them (functions/README.md, Machines). */
import type { Machine, MachineChanges } from '../../client/paths.ts';

export type Scope = Machine['scopes'][number];

/** The scopes, each with a sentence that says what it allows. */
export const scopes: Readonly<Record<Scope, string>> = {
  'audit:write': 'It writes entries of its own into the audit trail.',
  'audit:read': 'It reads the trail, its seal and the settings, as an auditor does.',
  'users:read': 'It reads users, as an auditor does.',
  'users:write':
    'It creates and invites users, and changes the names and attributes of users who are neither admin nor auditor.',
  'client-address':
    'It names the addresses of clients whose requests it passes on, and is believed.',
};

/** Milliseconds after which a machine that has not called is marked. */
const longUnused = 90 * 86_400_000;

/**
 * Whether a machine has not called for 90 days, counted from its creation if it never called.
 * @param now in milliseconds since 1970
 */
export const isUnused = (
  { last_used_on, created_at }: Pick<Machine, 'last_used_on' | 'created_at'>,
  now: number,
): boolean => now - Date.parse(last_used_on ?? created_at) > longUnused;

/** Whether a time has come. @param now in milliseconds since 1970 */
export const isOver = (at: string | null | undefined, now: number): boolean =>
  typeof at === 'string' && Date.parse(at) <= now;

/** When the key before the newest one ends, while it is still good; undefined: it is not. */
export const endOfKeyBefore = (
  { keys: [, before] }: Pick<Machine, 'keys'>,
  now: number,
): string | undefined =>
  before?.expires_at && !isOver(before.expires_at, now) ? before.expires_at : undefined;

/** The fields of a machine in which it differs from another state; undefined: in none. */
export const changesFrom = (
  { name, scopes: before, expires_at }: Pick<Machine, 'name' | 'scopes' | 'expires_at'>,
  to: Required<MachineChanges>,
): MachineChanges | undefined => {
  const isSame = [...before].sort().join() === [...(to.scopes ?? [])].sort().join();
  const changes = {
    ...(to.name !== name && { name: to.name }),
    ...(!isSame && { scopes: to.scopes }),
    ...(to.expiresAt !== expires_at && { expiresAt: to.expiresAt }),
  };
  return Object.keys(changes).length > 0 ? changes : undefined;
};

/**
 * A command that writes an entry with a key, once: it has the same Idempotency-Key whenever it is run.
 * @param origin of the service
 */
export const curlOf = (
  origin: string,
  { key, keys: [newest] }: Pick<Machine, 'keys'> & { key: string },
): string => {
  const entry = {
    action: 'CREATE',
    resource: 'example.orders',
    resourceId: '1',
    result: 'SUCCESS',
  };
  const headers = [
    `Authorization: Bearer ${key}`,
    `Idempotency-Key: ${newest?.created_at}`,
    'Content-Type: application/json',
  ];
  const given = headers.map((header) => `-H '${header}'`).join(' ');
  return `curl -X POST ${origin}/api/admin/audit-logs ${given} -d '${JSON.stringify({ entries: [entry] })}'`;
};

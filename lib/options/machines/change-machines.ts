/** How admins make, change and remove machines (functions/README.md, Machines). */
import { recording, recordingFaults } from '../../audit/record.ts';
import type { Source } from '../../ground/source.ts';
import { dayInMilliseconds } from '../../ground/time.ts';
import { newVersion } from '../../users/item.ts';
import { adminRequired } from '../../users/write.ts';
import { hashOfKey, makeKey } from './key.ts';
import { type Machine, readMachine, type Scope, type StoredKey } from './machine.ts';
import { allocateMachineId, deleteMachine, insertMachine, rewriteMachine } from './store.ts';

/** The fields of a machine that admins choose. */
export interface MachineFields {
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** In the form of `created_at`; null or absent: the machine has no end. */
  readonly expiresAt?: string | null | undefined;
}

interface ByAdmin {
  readonly by: number;
  readonly source: Source;
}

/** A machine with a new key, which is not stored. */
interface WithKey {
  readonly machine: Machine;
  readonly key: string;
}

/** Makes a machine for a caller, who must be stored as an admin. */
export async function createMachine(
  fields: MachineFields,
  { by, source }: ByAdmin,
): Promise<WithKey> {
  const creation = { source, action: 'CREATE', resource: 'machines', by } as const;
  const id = await recordingFaults(creation, allocateMachineId);
  const made = newMachine(id, fields, { made_by: by });
  const created = { ...creation, on: resourceIdOf(id), details: powersOf(made.machine) };
  await recording(created, () => insertMachine(made.machine, adminRequired(by)));
  return made;
}

/** Changes a machine for a caller, who must be stored as an admin. Returns the machine as changed. */
export async function changeMachine(
  id: number,
  changes: Partial<MachineFields>,
  { by, source }: ByAdmin,
): Promise<Machine> {
  const { after } = await recording(changeOf(id, { by, source }), async () => {
    const changed = (machine: Machine) => withFields(machine, changes);
    const { before, after } = await rewriteMachine(id, changed, adminRequired(by));
    return { after, details: { fields: Object.keys(changes), ...differences(before, after) } };
  });
  return after;
}

/** Milliseconds for which a key is good after another one was made. */
const overlap = dayInMilliseconds;

/**
 * Makes another key of a machine, for a caller who must be stored as an admin. A third key ends the oldest at once.
 * @param endPrevious whether the key before ends at once, too
 */
export async function addKey(
  id: number,
  { endPrevious }: { readonly endPrevious: boolean },
  { by, source }: ByAdmin,
): Promise<WithKey> {
  const key = makeKey(id);
  const details = { fields: ['keys'], ...(endPrevious ? { endPrevious } : {}) };
  const { after } = await recording(changeOf(id, { by, source }), async () => {
    const now = new Date();
    const changed = ({ keys: [newest], ...machine }: Machine) => {
      const ends_at = new Date(now.getTime() + overlap).toISOString();
      const previous = newest && !endPrevious ? [{ ...newest, ends_at }] : [];
      return { ...machine, keys: [storedKey(key, now), ...previous] };
    };
    return { ...(await rewriteMachine(id, changed, adminRequired(by))), details };
  });
  return { machine: after, key };
}

/** Removes a machine; its keys are void from now on. */
export async function removeMachine(id: number, { by, source }: ByAdmin): Promise<void> {
  const deed = { ...changeOf(id, { by, source }), action: 'DELETE' } as const;
  await recording(deed, async () => {
    const machine = await readMachine(id);
    await deleteMachine(machine);
    return { details: powersOf(machine) };
  });
}

export function newMachine(
  id: number,
  { name, scopes, expiresAt }: MachineFields,
  made: Pick<Machine, 'made_by'>,
  now = new Date(),
): WithKey {
  const key = makeKey(id);
  const created_at = now.toISOString();
  const keys = [storedKey(key, now)];
  const ends = expiresAt ? { ends_at: expiresAt } : {};
  const machine = { id, name, scopes, ...ends, created_at, ...made, keys, version: newVersion() };
  return { machine, key };
}

/** The id of a machine in audit entries, which no user has. */
export function resourceIdOf(id: number): string {
  return `machine-${id}`;
}

export function powersOf({ scopes, ends_at }: Machine) {
  return { scopes, expires_at: ends_at ?? null };
}

function changeOf(id: number, { by, source }: ByAdmin) {
  const on = resourceIdOf(id);
  return { source, action: 'UPDATE', resource: 'machines', by, on } as const;
}

function withFields({ ends_at, ...machine }: Machine, changes: Partial<MachineFields>) {
  const { name = machine.name, scopes = machine.scopes, expiresAt = ends_at } = changes;
  return { ...machine, name, scopes, ...(expiresAt ? { ends_at: expiresAt } : {}) };
}

function differences(before: Machine, after: Machine) {
  const [old, changed] = [powersOf(before), powersOf(after)];
  return Object.fromEntries(
    (['scopes', 'expires_at'] as const)
      .map((name) => [name, { from: old[name], to: changed[name] }] as const)
      .filter(([, { from, to }]) => String(from) !== String(to)),
  );
}

function storedKey(key: string, now: Date): StoredKey {
  return { hash: hashOfKey(key), made_at: now.toISOString() };
}

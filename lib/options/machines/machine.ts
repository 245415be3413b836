/**
 * The machines that call the service with keys (functions/README.md, Machines), as they are stored: an item with the
 * list of all, an item for each, and an item with the day of its last use.
 */
import { itemKey } from '../../dynamodb/tables.ts';
import { DomainError } from '../../ground/errors.ts';
import { loggingFaults } from '../../ground/log.ts';
import { longestDelay } from '../../ground/time.ts';
import { getItem, getItems, type ItemKey, updateIf } from '../../users/item.ts';
import { hashOfKey, idInKey } from './key.ts';

/** What a machine may do; lib/accounts/policy.ts says what each scope allows. */
export const scopes = [
  'audit:write',
  'audit:read',
  'users:read',
  'users:write',
  'client-address',
] as const;
export type Scope = (typeof scopes)[number];

/** A key of a machine, of which only the hash is stored. */
export interface StoredKey {
  readonly hash: string;
  readonly made_at: string;
  /** When the key ends, because another one has replaced it; absent: with the machine. */
  readonly ends_at?: string;
}

export interface Machine {
  readonly id: number;
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** When its keys end (ISO 8601); absent: never. It is not the table's attribute `expires_at`. */
  readonly ends_at?: string;
  readonly created_at: string;
  /** The id of the admin who made it; absent: a command made it. */
  readonly made_by?: number;
  /** The newest key first; at most two. */
  readonly keys: readonly StoredKey[];
  readonly version: string;
}

interface MachineList {
  readonly ids?: ReadonlySet<number>;
  /** The highest id that was given; no id is given twice. */
  readonly last: number;
}

/** The day, such as 2026-11-29, on which a key of the machine was last used; absent: on none. */
interface Used {
  readonly day?: string;
}

/**
 * The machine that a key belongs to, as last written, if the key is good.
 * @returns undefined for a key that is unknown, altered, ended or removed, and for any other text
 */
export async function findMachine(key: string, now = new Date()): Promise<Machine | undefined> {
  const id = idInKey(key);
  const machine = id === undefined ? undefined : await getItem<Machine>(machineKey(id));
  const hash = hashOfKey(key);
  const isGood = machine?.keys.some((each) => each.hash === hash && lasts(each, now));
  return machine && isGood && lasts(machine, now) ? machine : undefined;
}

/** The day on which this process last noted a use of each machine, by the id. */
const noted = new Map<number, string>();

/**
 * Notes that a key of a machine is used today (UTC), once a day in each process. Never throws, and takes a second at
 * most on AWS: a fault is logged.
 */
export async function noteUse({ id }: Pick<Machine, 'id'>, now = new Date()): Promise<void> {
  const day = now.toISOString().slice(0, 10);
  if (noted.get(id) === day) return;
  noted.set(id, day);
  const update = {
    UpdateExpression: 'SET #day = :day',
    ConditionExpression: 'attribute_not_exists(pk) OR #day < :day',
    ExpressionAttributeNames: { '#day': 'day' },
    ExpressionAttributeValues: { ':day': day },
  };
  const work = () => updateIf(usedKey(id), update, { timeout: longestDelay() });
  const written = await loggingFaults('machine-use-not-noted', work);
  if (written === undefined) noted.delete(id);
}

/** @throws {DomainError} MACHINE_NOT_FOUND */
export async function readMachine(id: number): Promise<Machine> {
  const machine = await getItem<Machine>(machineKey(id));
  if (!machine) throw new DomainError('MACHINE_NOT_FOUND');
  return machine;
}

/** All machines in the order of their ids, as responses show them. */
export async function readShownMachines() {
  const list = await getItem<MachineList>(listKey);
  const ids = [...(list?.ids ?? [])].sort((one, other) => one - other);
  // Together these may be more items than one batch has.
  const [machines, used] = await Promise.all([
    getItems<Machine>(ids.map(machineKey)),
    getItems<Used>(ids.map(usedKey)),
  ]);
  return machines.flatMap((machine, i) => (machine ? shownMachine(machine, used[i]) : []));
}

export async function readShownMachine(id: number) {
  const [machine, used] = await getItems<Machine & Used>([machineKey(id), usedKey(id)]);
  if (!machine) throw new DomainError('MACHINE_NOT_FOUND');
  return shownMachine(machine, used);
}

/** A machine as responses show it, without the hashes of its keys. */
export function shownMachine(machine: Machine, { day }: Used = {}) {
  const { id, name, scopes, ends_at, created_at, made_by } = machine;
  const keys = machine.keys.map((key) => ({
    created_at: key.made_at,
    expires_at: key.ends_at ?? null,
  }));
  return {
    id,
    name,
    scopes,
    expires_at: ends_at ?? null,
    created_at,
    made_by: made_by ?? null,
    last_used_on: day ?? null,
    keys,
  };
}

export const listKey = /* @__PURE__ */ itemKey('machines');

export function machineKey(id: number): ItemKey {
  return itemKey('machine#*', id);
}

export function usedKey(id: number): ItemKey {
  return itemKey('machine-used#*', id);
}

function lasts({ ends_at }: { readonly ends_at?: string }, now: Date): boolean {
  return ends_at === undefined || ends_at > now.toISOString();
}

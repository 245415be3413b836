/** Compares one entry of the table with its sealed line (functions/README.md, The seal). */
import { timeOfAuditId } from '../audit/entry.ts';
import { shards } from '../audit/index-keys.ts';
import { listEntries, shownEntry } from '../audit/query.ts';
import { readItems } from '../dynamodb/client.ts';
import { createdAtKey, replayId } from '../dynamodb/tables.ts';
import { DomainError } from '../ground/errors.ts';
import { config } from '../ground/settings.ts';
import { BoundedTrail, OutOfReach, type SearchedTrail } from './bounded-trail.ts';
import { findLine, type Looked, requireFirstLine, type Wanted } from './find-line.ts';
import type { SignedHeader } from './header.ts';
import { hasLeft, type Item, isTimely, keyOf, lineOf, replayedBy } from './line.ts';
import { attributesOf, nativeItem } from './stored-item.ts';

interface Outcome {
  readonly state:
    | ('equal' | 'differs' | 'deleted' | 'inserted')
    | ('waits' | 'left' | 'too_large' | 'not_found');
  readonly fields?: readonly string[];
  /** The number of the file that has the line, or that may have it. */
  readonly file?: number | undefined;
  readonly finding?: OutOfReach['finding'];
}

/**
 * Compares an entry with its sealed line.
 * @param known the header of the newest file, or of an older one
 * @param now milliseconds since 1970
 * @throws {DomainError} AUDIT_ENTRY_NOT_FOUND if neither the table nor the archive has the entry; STORAGE_FAULT
 */
export async function compareEntry(
  id: number,
  trail: SearchedTrail,
  { known, now }: { readonly known: SignedHeader | undefined; readonly now: number },
) {
  const [stored] = (await readItems(config.auditTable, [{ id: { N: String(id) } }])).map(
    nativeItem,
  );
  const looked = await look(new BoundedTrail(trail, known), { id, stored, now }).catch(outcomeOf);
  const outcome = 'state' in looked ? looked : judge(looked, stored, now);
  const sealed = 'sealed' in looked ? looked.sealed?.item : undefined;
  const mayExist = outcome.state === 'not_found' || outcome.state === 'too_large';
  if (!stored && !sealed && !mayExist) throw new DomainError('AUDIT_ENTRY_NOT_FOUND');
  return { ...outcome, stored: shownOf(stored), sealed: shownOf(sealed) };
}

/**
 * Looks for the line at the time of the id, which is the time of an entry that the service has made; then at the key in
 * the table, and where replays list the id, where only the first line in all files since the time of the id counts.
 */
async function look(
  trail: BoundedTrail,
  { id, stored, now }: Omit<Wanted, 'key'> & { readonly stored: Item | undefined },
): Promise<Looked> {
  const made = { id, key: createdAtKey({ id, created_at: timeOfAuditId(id).toISOString() }), now };
  const looked = await findLine(trail, made);
  if (looked.sealed || !stored) return looked;
  const key = keyOf(stored);
  // The index has no entry without a key.
  const isElsewhere = key !== '' && key !== made.key;
  const atKey = isElsewhere ? await findLine(trail, { id, key, now }) : looked;
  const other = atKey.sealed || !atKey.isOver ? atKey : await lookAtReplays(trail, made);
  if (!other.sealed) return other;
  return { ...other, sealed: await requireFirstLine(trail, made, other.sealed) };
}

/** Looks for the line in the files of the replays that list the id, until one has it. */
async function lookAtReplays(trail: BoundedTrail, wanted: Wanted): Promise<Looked> {
  let looked: Looked = { isOver: true };
  for (const key of await findReplays(wanted.id)) {
    looked = await findLine(trail, { ...wanted, key });
    if (looked.sealed) break;
  }
  return looked;
}

/** The keys of the replays that list an id, oldest first, of the newest thousand replays. */
async function findReplays(id: number): Promise<readonly string[]> {
  const filter = { resourceId: replayId, action: 'CREATE' } as const;
  const { entries } = await listEntries(filter, { limit: 1000, order: 'desc' });
  // The index has only the service's own entries under this key.
  const replays = entries.filter((entry) =>
    replayedBy({ ...entry, shard: shards[0] }).includes(String(id)),
  );
  return replays.map(createdAtKey).reverse();
}

/** @throws {DomainError} STORAGE_FAULT for an error of the archive */
function outcomeOf(error: unknown): Outcome {
  if (error instanceof OutOfReach) {
    const { state, file, finding } = error;
    return { state, ...(file && { file }), ...(finding && { finding }) };
  }
  throw error instanceof DomainError ? error : new DomainError('STORAGE_FAULT', { cause: error });
}

function judge({ sealed, isOver }: Looked, stored: Item | undefined, now: number): Outcome {
  if (!sealed) {
    const mayCome = !isOver && (!stored || isTimely(stored, now));
    return { state: mayCome ? 'waits' : 'inserted' };
  }
  const { item, file } = sealed;
  if (!stored) return { state: hasLeft(item, now) ? 'left' : 'deleted', file };
  if (lineOf(stored) === lineOf(item)) return { state: 'equal', file };
  return { state: 'differs', fields: differing(stored, item), file };
}

function differing(stored: Item, sealed: Item): readonly string[] {
  const names = [...new Set([...Object.keys(stored), ...Object.keys(sealed)])].sort();
  const textIn = (item: Item, name: string) =>
    Object.hasOwn(item, name) ? lineOf({ value: item[name] }) : undefined;
  return names.filter((name) => textIn(stored, name) !== textIn(sealed, name));
}

function shownOf(item: Item | undefined) {
  return item ? shownEntry(attributesOf(item)) : null;
}

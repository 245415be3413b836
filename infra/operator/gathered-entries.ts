import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { ExportedEntry } from '../../lib/audit/formats.ts';
import {
  type AuditFilter,
  attributes,
  machineAttributes,
  matching,
  shown,
} from '../../lib/audit/query.ts';
import type { Item } from '../../lib/seal/line.ts';
import { openScratch } from '../../lib/seal/scratch.ts';

/**
 * Collects the entries that match a filter on the disk, so that the memory does not depend on the number of entries.
 */
export function gatherEntries(filter: AuditFilter) {
  const matches = isWanted(filter);
  const { change, rows, close } = openScratch(
    'CREATE TABLE entries (id TEXT PRIMARY KEY, created_at TEXT, entry TEXT)',
  );
  const insert = change('INSERT OR IGNORE INTO entries VALUES (?, ?, ?)');
  const select = rows('SELECT entry FROM entries ORDER BY created_at, length(id), id');
  let count = 0;
  return {
    get count() {
      return count;
    },
    /** Adds an entry if it matches the filter, unless an entry with its id was added before. */
    add: (entry: ExportedEntry): void => {
      if (!matches(entry)) return;
      const { id, created_at } = entry;
      if (insert(String(id), created_at, JSON.stringify(entry))) count += 1;
    },
    /** The entries, with the oldest first. */
    *inOrder(): Generator<ExportedEntry> {
      for (const { entry } of select()) yield JSON.parse(String(entry));
    },
    close,
  };
}

/** Makes an exported entry from an item and, if the item was sealed, the number of its file. */
export function exported(item: Item, file: number | null): ExportedEntry {
  const fieldsOf = (names: readonly string[]) =>
    Object.fromEntries(names.map((name) => [name, plain(item[name])]));
  return {
    ...(fieldsOf([...attributes, 'request_id']) as Omit<ExportedEntry, 'file'>),
    file,
    ...fieldsOf(machineAttributes),
  };
}

function isWanted(filter: AuditFilter) {
  const { since = '', until = '~' } = filter;
  const matches = matching(filter);
  return (entry: ExportedEntry): boolean => {
    const time = String(entry.created_at);
    return time >= since && time < until && matches(entry);
  };
}

/** The value of a field as the API shows it. */
function plain(value: unknown) {
  return typeof value === 'object' && value !== null
    ? shown(value as AttributeValue)
    : (value ?? null);
}

/** Tables on the disk, for data that would take too much memory. */
import { DatabaseSync } from 'node:sqlite';

type Row = Readonly<Record<string, unknown>>;
type Values = readonly (string | number | Uint8Array | null)[];

/**
 * Tables for data that would take too much memory. Each method prepares a statement as a function. The function of
 * `change` returns whether the statement changed anything; `has` takes the part of a SELECT 1 that follows FROM.
 * @param tables the statements that make the tables
 */
export function openScratch(tables: string) {
  // A database without a name is a temporary file, which SQLite deletes when the process ends.
  const database = new DatabaseSync('');
  // No data in it has to survive a crash.
  database.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; ${tables}; BEGIN`);
  return {
    change: (sql: string) => {
      const statement = database.prepare(sql);
      return (...values: Values): boolean => Number(statement.run(...values).changes) > 0;
    },
    has: (sql: string) => {
      const statement = database.prepare(`SELECT 1 FROM ${sql} LIMIT 1`);
      return (...values: Values): boolean => statement.get(...values) !== undefined;
    },
    rows: (sql: string) => {
      const statement = database.prepare(sql);
      return (...values: Values): Iterable<Row> => statement.iterate(...values);
    },
    close: () => database.close(),
  };
}

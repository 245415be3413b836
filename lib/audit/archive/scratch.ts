import { DatabaseSync } from 'node:sqlite';

/**
 * A database for what would take too much memory, to be closed.
 * @param tables the statements that make its tables
 */
export const openScratch = (tables: string): DatabaseSync => {
  // A database without a name is a temporary file, which SQLite takes away with the process.
  const database = new DatabaseSync('');
  // It is thrown away in any case: nothing of it need survive.
  database.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; ${tables}; BEGIN`);
  return database;
};

/** The meanings of settings, which stand in the tables of infra/settings.md, for the package and the console. */
import { readFileSync } from 'node:fs';
import { withoutLinks } from './links.ts';

/** A row of a table: the last name in its first cell, and its last cell. */
const row = /^\| (?:`\w+`, )?`(\w+)` \| .* \| (.*) \|$/gm;

/** The meaning of each setting, in Markdown without links, by the name of the setting in a deployment. */
export function readMeanings(): Readonly<Record<string, string>> {
  const document = readFileSync(new URL('settings.md', import.meta.url), 'utf8');
  const rows = [...document.matchAll(row)];
  return Object.fromEntries(rows.map(([, name, meaning = '']) => [name, withoutLinks(meaning)]));
}

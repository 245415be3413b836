import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { deploymentSettings } from '../../infra/deployment-settings.ts';
import { localSettings } from '../../infra/local/settings.ts';
import {
  type Setting,
  serviceSettings,
  settings,
  type VariableSetting,
} from '../../lib/settings.ts';

const lines = globSync('{*,infra/*,functions/*}.md').flatMap((file) =>
  readFileSync(file, 'utf8').split('\n'),
);

const cellsOf = (row: string) => row.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, ''));

/** The rows of the document's table with this beginning of its head, by their first cells. */
const readTable = (head: string) => {
  const start = lines.findIndex((line) => line.startsWith(`| ${head} | Default | Allowed |`)) + 2;
  const end = lines.findIndex((line, i) => i >= start && !line.startsWith('|'));
  const rows = lines.slice(start, end).map(cellsOf);
  return Object.fromEntries(rows.map(([name, standard, allowed]) => [name, { standard, allowed }]));
};

interface Documented extends Setting<unknown> {
  readonly deployed?: Setting<unknown>['rule'];
  readonly atMost?: string;
}

const code = (text: string) => (/^\d+$/.test(text) ? text : `\`${text}\``);

/** What the document says of a rule; of one that is neither a list nor a range, anything. */
const allowedBy = ({ form }: Setting<unknown>['rule'], atMost?: string) => {
  const [, words] = /^one of (.+)$/.exec(form) ?? [];
  const [, range, from] = /^a (?:whole )?number from ((\d+) to \d+)$/.exec(form) ?? [];
  if (words) return words.split(', ').map(code).join(', ');
  if (range) return atMost ? `${from} to ${code(atMost)}` : range;
  return expect.any(String);
};

const rowOf = ({ rule, deployed, otherwise, atMost }: Documented, none: unknown) => {
  const allowed = allowedBy(rule, atMost);
  return {
    standard: otherwise ? code(otherwise) : none,
    allowed: deployed ? `${allowed}; in a deployment ${allowedBy(deployed)}` : allowed,
  };
};

describe('The document’s tables', () => {
  it('name each variable of npm start, with its default and what it may be', () => {
    const read: readonly VariableSetting<unknown>[] = Object.values({
      ...localSettings,
      storagePatience: settings.storagePatience,
    });

    expect(readTable('Variable')).toEqual(
      Object.fromEntries(
        read.map((setting) => [code(setting.variable), rowOf(setting, expect.any(String))]),
      ),
    );
  });

  it('name each setting of the service, with its default and what it may be', () => {
    expect(readTable('Variable, setting')).toEqual(
      Object.fromEntries(
        Object.entries(serviceSettings).map(([name, setting]) => [
          `${code(setting.variable)}, ${code(name)}`,
          rowOf(setting, 'none'),
        ]),
      ),
    );
  });

  it('name each setting of a deployment besides, with its default and what it may be', () => {
    const besides = Object.entries(deploymentSettings).filter(
      ([name]) => !Object.hasOwn(serviceSettings, name),
    );

    expect(readTable('Setting')).toEqual(
      Object.fromEntries(besides.map(([name, setting]) => [code(name), rowOf(setting, 'none')])),
    );
  });
});

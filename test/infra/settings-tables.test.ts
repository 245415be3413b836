import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { deploymentSettings } from '../../infra/deployment-settings.ts';
import { localSettings } from '../../infra/local-settings.ts';
import { type Setting, variableOf } from '../../lib/ground/setting.ts';
import { serviceSettings } from '../../lib/ground/settings.ts';

const lines = globSync('{*,infra/*,functions/*}.md').flatMap((file) =>
  readFileSync(file, 'utf8').split('\n'),
);

const cellsOf = (row: string) => row.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, ''));

/** The rows of the table whose head begins with these words, by their first cells. */
const readTable = (head: string) => {
  const start = lines.findIndex((line) => line.startsWith(`| ${head} | Default | Allowed |`)) + 2;
  const end = lines.findIndex((line, i) => i >= start && !line.startsWith('|'));
  const rows = lines.slice(start, end).map(cellsOf);
  return Object.fromEntries(rows.map(([name, standard, allowed]) => [name, { standard, allowed }]));
};

interface Documented extends Setting {
  readonly atMost?: string;
}

const code = (text: string | number) => (/^\d+$/.test(String(text)) ? String(text) : `\`${text}\``);

/** The cell of a list or a range; what another rule says is for the document to choose. */
const allowedBy = ({ allowed, atMost }: Documented) => {
  if ('rule' in allowed || 'or' in allowed) return expect.any(String);
  if (!('from' in allowed)) return allowed.map(code).join(', ');
  return `${allowed.from} to ${code(atMost ?? allowed.to)}`;
};

const rowOf = (setting: Documented, none: unknown) => ({
  standard: setting.default ? code(setting.default) : none,
  allowed: allowedBy(setting),
});

describe('The tables of settings in the documents', () => {
  it('have each variable of npm start, with its default and its allowed values', () => {
    expect(readTable('Variable')).toEqual(
      Object.fromEntries(
        Object.entries(localSettings).map(([name, setting]) => [
          code(variableOf(name)),
          rowOf(setting, expect.any(String)),
        ]),
      ),
    );
  });

  it('have each setting of the service, with its default and its allowed values', () => {
    const rows = Object.entries(serviceSettings).map(([name, setting]) => [
      `${code(variableOf(name))}, ${code(name)}`,
      rowOf(setting, 'none'),
    ]);
    const inDeployment = allowedBy(deploymentSettings.bcryptCost);
    const bcryptCost = { standard: '10', allowed: `4 to 16; in a deployment ${inDeployment}` };

    expect(readTable('Variable, setting')).toEqual({
      ...Object.fromEntries(rows),
      '`BCRYPT_COST`, `bcryptCost`': bcryptCost,
    });
  });

  it('have each other setting of a deployment, with its default and its allowed values', () => {
    const others = Object.entries(deploymentSettings).filter(
      ([name]) => !Object.hasOwn(serviceSettings, name),
    );

    expect(readTable('Setting')).toEqual(
      Object.fromEntries(
        others.map(([name, setting]) => {
          const none =
            name === 'auditLockDays' ? expect.stringContaining('`auditArchiveDays`') : 'none';
          return [code(name), rowOf(setting, none)];
        }),
      ),
    );
  });
});

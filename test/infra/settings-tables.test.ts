import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import {
  type DeploymentSetting,
  deploymentSettings,
  names,
} from '../../infra/deployment-settings.ts';
import { localSettings } from '../../infra/local-settings.ts';
import { variableOf } from '../../lib/ground/setting.ts';
import { serviceNames, serviceSettings } from '../../lib/ground/settings.ts';

/** Settings whose rule says less than the document, or has characters that Markdown does not show. */
const allowedInWords = [
  'DATA_DIR',
  'PUBLIC_URL',
  'JWT_SECRET',
  'ADMIN_EMAIL',
  'ADMIN_PASSWORD',
  'CORS_ORIGINS',
  'corsOrigins',
  'AWS_ENDPOINT_URL_DYNAMODB',
  'AWS_ENDPOINT_URL_SESV2',
  'mailFrom',
  'identityProviders',
  'userAttributes',
  'passkeys',
  'certificateArn',
  'auditStreamArn',
];

/** Settings whose defaults are not in their data, because they depend on something else. */
const defaultInWords = [
  'JWT_SECRET',
  'ADMIN_EMAIL',
  'ADMIN_PASSWORD',
  'LOG_REQUESTS',
  'auditLockDays',
];

const document = readFileSync('infra/settings.md', 'utf8');

/** The cells of the row of a setting, without the names; empty cells if there is no such row. */
const cellsOf = (name: string): readonly string[] => {
  const [, ...cells] =
    new RegExp(`^\\| (?:\`\\w+\`, )?\`${name}\` \\| (.*?) \\| (.*) \\| (.*) \\|$`, 'm').exec(
      document,
    ) ?? [];
  return cells;
};

const code = (text: string | number) => (/^\d+$/.test(String(text)) ? String(text) : `\`${text}\``);

const allowedBy = ({ allowed, atMost }: DeploymentSetting): string => {
  if ('rule' in allowed) return allowed.rule;
  if (!('from' in allowed)) return allowed.map(code).join(', ');
  const { from, to, or } = allowed;
  return `${or === undefined ? '' : `${code(or)}, or `}${from} to ${code(atMost ?? to)}`;
};

/** The row of a setting: its default and its allowed values are data, and its meaning stands in the document. */
const rowOf = (
  names: readonly string[],
  setting: DeploymentSetting,
  allowed = allowedBy(setting),
): string => {
  const name = names.at(-1) ?? '';
  const [standardInWords = '', ruleInWords = '', meaning = ''] = cellsOf(name);
  const standard = setting.default ? code(setting.default) : 'none';
  const cells = [
    names.map(code).join(', '),
    defaultInWords.includes(name) ? standardInWords : standard,
    allowedInWords.includes(name) ? ruleInWords : allowed,
    meaning,
  ];
  return `| ${cells.join(' | ')} |`;
};

const localRows = () =>
  Object.entries(localSettings).map(([name, setting]) => rowOf([variableOf(name)], setting));

const serviceRows = () =>
  serviceNames.map((name) => {
    const setting = serviceSettings[name];
    const [here, deployed] = [allowedBy(setting), allowedBy(deploymentSettings[name])];
    const allowed = here === deployed ? here : `${here}; in a deployment ${deployed}`;
    return rowOf([variableOf(name), name], setting, allowed);
  });

const deploymentRows = () =>
  names
    .filter((name) => !Object.hasOwn(serviceSettings, name))
    .map((name) => rowOf([name], deploymentSettings[name]));

/** A document in which the table under this head has these rows. */
const withRows = (document: string, head: string, rows: readonly string[]): string => {
  const table = new RegExp(`^(\\| ${head} \\| Default \\|.*\\n.*\\n)(?:\\|.*\\n)*`, 'm');
  expect(document).toMatch(table);
  return document.replace(table, (_, top) => `${top}${rows.join('\n')}\n`);
};

const rows = [
  ['Variable', localRows()],
  ['Variable, setting', serviceRows()],
  ['Setting', deploymentRows()],
] as const;

it('The tables of infra/settings.md have all settings, with their data: `--update` writes them', async () => {
  const written = rows.reduce((text, [head, each]) => withRows(text, head, each), document);

  await expect(written).toMatchFileSnapshot('../../infra/settings.md');
});

it('Each setting has a meaning in its row of infra/settings.md', () => {
  const meaningless = rows.flatMap(([, each]) => each).filter((row) => row.endsWith(' |  |'));

  expect(meaningless).toEqual([]);
});

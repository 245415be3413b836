import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import {
  type DeploymentSetting,
  deploymentSettings,
  names,
} from '../../infra/deployment-settings.ts';
import { localSettings } from '../../infra/local-settings.ts';
import { allowedInWords, defaultsInWords, meanings } from '../../infra/meanings.ts';
import { variableOf } from '../../lib/ground/setting.ts';
import { serviceNames, serviceSettings } from '../../lib/ground/settings.ts';

type SettingName = keyof typeof meanings;

const code = (text: string | number) => (/^\d+$/.test(String(text)) ? String(text) : `\`${text}\``);

const allowedBy = ({ allowed, atMost }: DeploymentSetting): string => {
  if ('rule' in allowed) return allowed.rule;
  if (!('from' in allowed)) return allowed.map(code).join(', ');
  const { from, to, or } = allowed;
  return `${or === undefined ? '' : `${code(or)}, or `}${from} to ${code(atMost ?? to)}`;
};

const rowOf = (
  first: string,
  name: SettingName,
  setting: DeploymentSetting,
  allowed = allowedBy(setting),
): string => {
  const standard = defaultsInWords[name] ?? (setting.default ? code(setting.default) : 'none');
  return `| ${[first, standard, allowedInWords[name] ?? allowed, meanings[name]].join(' | ')} |`;
};

const localRows = () =>
  (Object.keys(localSettings) as (keyof typeof localSettings)[]).map((name) =>
    rowOf(code(variableOf(name)), name, localSettings[name]),
  );

const serviceRows = () =>
  serviceNames.map((name) => {
    const setting = serviceSettings[name];
    const [here, deployed] = [allowedBy(setting), allowedBy(deploymentSettings[name])];
    const allowed = here === deployed ? here : `${here}; in a deployment ${deployed}`;
    return rowOf(`${code(variableOf(name))}, ${code(name)}`, name, setting, allowed);
  });

const deploymentRows = () =>
  names
    .filter((name) => !Object.hasOwn(serviceSettings, name))
    .map((name) => rowOf(code(name), name, deploymentSettings[name]));

/** A document in which the table under this head has these rows. */
const withRows = (document: string, head: string, rows: readonly string[]): string => {
  const table = new RegExp(`^(\\| ${head} \\| Default \\|.*\\n.*\\n)(?:\\|.*\\n)*`, 'm');
  expect(document).toMatch(table);
  return document.replace(table, (_, top) => `${top}${rows.join('\n')}\n`);
};

it('The tables of infra/settings.md equal the data and meanings of settings: `--update` writes them', async () => {
  const file = '../../infra/settings.md';
  const written = [
    ['Variable', localRows()],
    ['Variable, setting', serviceRows()],
    ['Setting', deploymentRows()],
  ] as const;

  const document = written.reduce(
    (text, [head, rows]) => withRows(text, head, rows),
    readFileSync('infra/settings.md', 'utf8'),
  );

  await expect(document).toMatchFileSnapshot(file);
});

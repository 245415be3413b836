import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { variableOf } from '../../lib/ground/setting.ts';
import { serviceSettings } from '../../lib/ground/settings.ts';
import { options } from './options.ts';

const code = (text: string) => `\`${text}\``;

const rows = Object.entries(options).map(([name, { title, settings, isInPolicy, handlers }]) => {
  const places = [
    isInPolicy ? 'lib/accounts/policy.ts' : `lib/options/${name}/`,
    ...handlers.map((own) => `functions/${own}`),
  ];
  const variables = settings.map((each) =>
    Object.hasOwn(serviceSettings, each) ? variableOf(each) : each,
  );
  return `| ${[[title], variables.map(code), places.map(code)].map((cell) => cell.join(', ')).join(' | ')} |`;
});

it('The table of lib/options/README.md equals the data of the options: `--update` writes it', async () => {
  const [top = ''] =
    /^.*?\n\| --- .*?\n/s.exec(readFileSync('lib/options/README.md', 'utf8')) ?? [];

  await expect(`${top}${rows.join('\n')}\n`).toMatchFileSnapshot('../../lib/options/README.md');
});

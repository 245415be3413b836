/** Follows the lines of infra/runbooks.md. */
import { readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { run } from './command.ts';
import type { Place } from './place.ts';
import { pythonProgram } from './python.ts';
import { requireThat } from './step.ts';
import { environment, root, runFolder } from './workspace.ts';

/** The lines that are left out: the CDK deploys what was synthesised, and the emulator cannot protect logs. */
const notHere = /^\s*(npx cdk|aws logs put-log-group-deletion-protection) .*\n/gm;

/** The lines of a block in a section of infra/runbooks.md, one of which contains a text. */
export const linesWith = (section: string, text: string): string => {
  const runbooks = readFileSync(join(root, 'infra', 'runbooks.md'), 'utf8');
  const blocks = runbooks.slice(runbooks.indexOf(`\n## ${section}\n`));
  const found = [...blocks.matchAll(/^```sh\n(.*?)^```$/gms)].find(([, lines]) =>
    lines?.includes(text),
  );
  requireThat(found !== undefined, `infra/runbooks.md, ${section}, has no lines with ${text}`);
  return found?.[1]?.replace(notHere, '') ?? '';
};

/** Runs lines in the folder of this run, to which they may write. */
export const follow = (lines: string, { env }: Place): Promise<string> => {
  const path = [dirname(pythonProgram('aws')), environment.PATH].join(delimiter);
  const args = ['-e', '-c', `cd "$0"\n${lines}`, runFolder];
  return run('sh', args, { env: { ...env, PATH: path } });
};

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startTestService } from '../../support/service.ts';

const readme = readFileSync('README.md', 'utf8');
const section = readme.slice(readme.indexOf('\n## Five-minute tour\n')).split('\n## ')[1] ?? '';
const blocks = [...section.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(
  ([, language = '', lines = '']) => ({ isPasted: language === 'sh', lines }),
);
const [start, ...pasted] = blocks.filter(({ isPasted }) => isPasted).map(({ lines }) => lines);

/** What each answer is to be, in which `…` stands for any text. */
const promised = blocks
  .filter(({ isPasted }) => !isPasted)
  .flatMap(({ lines }) => lines.split('\n').slice(0, -1));

/** The settings before `npm start`. */
const settings = Object.fromEntries(
  [...(start ?? '').matchAll(/(\w+)=(\S+) /g)].map(([, name, value]) => [name, value]),
);

/** Interactive shells that no file of their user has changed. */
const shells = [
  { shell: 'bash', args: ['--norc', '--noprofile', '--noediting', '-i'] },
  { shell: 'zsh', args: ['-f', '-i'] },
];

const isThere = (shell: string) => spawnSync(shell, ['-c', 'exit']).status === 0;

/** Types lines into a shell, away from the terminal of the tests, and reads what they print. */
const paste = (shell: string, args: readonly string[], lines: string) => {
  // Prompts, and what a shell says of itself, go to standard error.
  const environment = { ...process.env, PS1: '', PS2: '', HISTFILE: '/dev/null' };
  const options = { input: lines, encoding: 'utf8', env: environment, detached: true } as const;
  return spawnSync(shell, args, options);
};

const matcher = (line: string) => {
  const pattern = line.replaceAll(/[^\w\s…]/g, '\\$&').replaceAll('…', '.*');
  return expect.stringMatching(new RegExp(`^${pattern}$`));
};

/** What a shell says of a line that it does not read as it was meant. */
const complaints = /sh: .*(?:not found|no matches|error)/;

describe('The five-minute tour of README.md', () => {
  it.for(shells)(
    'prints what README.md says when it is pasted into $shell, also when it is pasted again',
    async (typed, test) => {
      const { shell, args } = typed;
      test.skip(!isThere(shell), `There is no ${shell} on this machine.`);
      const service = await startTestService(settings);
      onTestFinished(service.stop);

      const lines = pasted.join('').replace('http://localhost:3000', service.url);
      const runs = [paste(shell, args, lines), paste(shell, args, lines)];

      expect(promised.length).toBeGreaterThan(5);
      for (const { stdout, stderr } of runs) {
        expect(stderr).not.toMatch(complaints);
        expect(stdout.replaceAll('\r', '').split('\n')).toEqual([...promised.map(matcher), '']);
      }
    },
  );
});

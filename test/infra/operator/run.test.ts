import { describe, expect, it } from 'vitest';
import { commands } from '../../../infra/operator/run.ts';
import { operate, operateApart } from '../../support/operator.ts';

const names = Object.keys(commands);

describe('Help', () => {
  it('names every command and what each is for', async () => {
    const { status, stdout } = await operate(['--help']);

    expect(status).toBe(0);
    for (const name of names) expect(stdout).toContain(`  ${name} [options]`);
  });

  it.each(Object.entries(commands))(
    'has usage, target and examples of %s',
    async (name, command) => {
      const { status, stdout } = await operate([name, '--nonsense', '--help']);

      expect(status).toBe(0);
      expect(stdout).toContain(`Usage: npm run operator -- ${name} [options]`);
      for (const part of ['--stack <name>', '--local [folder]', 'Exit status: 0']) {
        expect(stdout).toContain(part);
      }
      for (const example of command.examples ?? []) expect(stdout).toContain(`-- ${example}\n`);
    },
  );

  it.each(Object.values(commands).flatMap(({ examples = [] }) => examples))(
    'has only examples that are not wrong usage: %s',
    async (example) => {
      const words = (/^[^|<]*/.exec(example)?.[0] ?? '').match(/"[^"]*"|\S+/g) ?? [];
      const elsewhere = words.map((word) => (word === '--local' ? '--local=/dev/null' : word));

      expect((await operate(elsewhere)).stderr).not.toMatch(/^error:|^Name one service/);
    },
  );
});

describe('A command that was typed wrongly', () => {
  it('does nothing and ends with status 2', async () => {
    const { status, stdout, stderr } = await operateApart(['creat-admin', 'a@b', '--local']);

    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toBe(
      "error: unknown command 'creat-admin'\n(Did you mean create-admin?)\nFor help: add --help.\n",
    );
  });

  it.each([
    ['which commands there are, when none was named', [], names.join('.*')],
    ['that an argument is missing', ['revoke', '--local'], "missing required argument 'email'"],
    ['so, when there are too many', ['revoke-all', 'x', '--local'], 'too many arguments'],
    ['so, when the folder is another argument', ['revoke-all', '--local', 'data'], 'too many'],
    ['how to name a service', ['revoke-all'], 'Name one service'],
    ['that there can be only one', ['revoke-all', '--local', '--stack', 's'], 'Name one service'],
    [
      'which option lacks its value',
      ['revoke-all', '--stack'],
      "'--stack <name>' argument missing",
    ],
    ['which option is of another command', ['revoke', 'a@b', '--force', '--local'], "'--force'"],
  ])('ends with a message that says %s', async (_, args, message) => {
    const { status, stderr } = await operate(args);

    expect(status).toBe(2);
    expect(stderr).toMatch(new RegExp(message, 's'));
  });

  it.each([
    [['--password', 'correct horse']],
    [['--password=correct horse']],
    [['-p', 'correct horse']],
    [['correct horse']],
  ])('is refused without repeating a password that is given as an argument: %s', async (given) => {
    const { status, stderr } = await operate(['create-admin', 'a@b.example', '--local', ...given]);

    expect(status).toBe(2);
    expect(stderr).not.toContain('horse');
  });
});

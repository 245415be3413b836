import { describe, expect, it } from 'vitest';
import { commands } from '../../../infra/operator/commands.ts';
import { commandHelp, parseRequest } from '../../../infra/operator/request.ts';
import { operate, operateApart } from '../../support/operator.ts';

const names = Object.keys(commands);

describe('Help', () => {
  it('names every command and where to read more', async () => {
    const { status, stdout } = await operate(['--help']);

    expect(status).toBe(0);
    for (const name of names) expect(stdout).toContain(`  ${name} `);
    expect(stdout).toContain('COMMAND --help');
  });

  it('is printed for a command whatever else is typed', async () => {
    const { status, stdout } = await operate(['promote', '--nonsense', '--help']);

    expect(status).toBe(0);
    expect(stdout).toContain('Usage: npm run operator -- promote EMAIL');
  });

  it.each(Object.entries(commands))('has usage, target and examples of %s', (name, command) => {
    const help = commandHelp(name, command);

    expect(help).toContain(`Usage: npm run operator -- ${name} `);
    expect(help).toContain('--stack NAME');
    expect(help).toContain('--local[=FOLDER]');
    expect(help).toMatch(new RegExp(`Examples:\n  npm run operator -- ${name} `));
    for (const line of help.split('\n')) expect(line.length).toBeLessThanOrEqual(110);
  });

  it.each(Object.values(commands).flatMap(({ examples }) => examples))(
    'has only examples that can be parsed: %s',
    (example) => {
      const words = (/^[^|<]*/.exec(example)?.[0] ?? '').match(/"[^"]*"|\S+/g) ?? [];

      expect(parseRequest(words)).toMatchObject({ help: false });
    },
  );
});

describe('A command that was typed wrongly', () => {
  it.each([
    ['an unknown command', ['make-admin'], 'There is no command make-admin. The commands are'],
    ['a missing argument', ['promote', '--local'], 'promote takes EMAIL; arguments given: 0'],
  ])('does nothing and ends with status 2: %s', async (_, args, message) => {
    const { status, stdout, stderr } = await operateApart(args);

    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toContain(message);
  });

  it.each([
    ['which commands there are, when none was named', [], names.join(', ')],
    ['so, when its name is that of a property', ['constructor'], 'There is no command'],
    ['so, when an argument is empty', ['promote', '', '--local'], 'promote takes EMAIL'],
    ['so, when there are too many', ['list-admins', 'x', '--local'], 'takes no argument'],
    ['how a folder is given', ['list-admins', '--local', 'data'], '--local=FOLDER'],
    ['how to name a service', ['list-admins'], 'Name the service'],
    [
      'that there can be one service only',
      ['list-admins', '--local', '--stack', 's'],
      'cannot be combined',
    ],
    ['which option lacks its value', ['list-admins', '--stack'], "'--stack <value>' needs a value"],
    ['which option it does not know', ['list-admins', '--lokal'], "Unknown option '--lokal'"],
    ['which option is of another command', ['promote', 'a@b', '--force', '--local'], "'--force'"],
  ])('ends with the message: %s', (_, args, message) => {
    expect(() => parseRequest(args)).toThrow(message);
  });

  it.each([
    [['--password', 'correct horse']],
    [['--password=correct horse']],
    [['-p', 'correct horse']],
    [['correct horse']],
  ])('is refused without repeating a password that is given as an argument: %s', (given) => {
    const parse = () => parseRequest(['create-admin', 'a@b.example', '--local', ...given]);

    expect(parse).toThrow(/a password is never an argument/i);
    expect(parse).not.toThrow(/horse/);
  });
});

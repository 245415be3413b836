import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { commands } from '../../../infra/operator/run.ts';
import { localSigner, makeKey } from '../../../lib/seal/folder-archive.ts';
import { folderForThisFile } from '../../support/folder.ts';
import { operate, operateApart } from '../../support/operator.ts';

const names = Object.keys(commands);

describe('Help', () => {
  it('names every command and its purpose', async () => {
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
    'has only examples with correct usage: %s',
    async (example) => {
      const words = (/^[^|<]*/.exec(example)?.[0] ?? '').match(/"[^"]*"|\S+/g) ?? [];
      const elsewhere = words.map((word) => (word === '--local' ? '--local=/dev/null' : word));

      expect((await operate(elsewhere)).stderr).not.toMatch(/^error:|^Name one service/);
    },
  );
});

describe('A command that was typed wrongly', () => {
  it('does nothing and ends with 2', async () => {
    const { status, stdout, stderr } = await operateApart(['creat-admin', 'a@b', '--local']);

    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toBe(
      "error: unknown command 'creat-admin'\n(Did you mean create-admin?)\nFor help: add --help.\n",
    );
  });

  const local = '--local';
  const many = 'Name one service';
  it.each<[string, readonly string[], string]>([
    ['which commands there are if no command was named', [], names.join('.*')],
    ['that an argument is missing', ['revoke', local], "missing required argument 'email'"],
    ['that there are too many arguments', ['revoke-all', 'x', local], 'too many arguments'],
    [
      'that a folder after --local is one argument too many',
      ['revoke-all', local, 'data'],
      'too many',
    ],
    ['how to name a service', ['revoke-all'], many],
    ['that only one service may be named', ['revoke-all', local, '--stack', 's'], many],
    ['that either a copy or a service may be named', ['verify-audit', '--archive=', local], many],
    ['which option lacks its value', ['revoke-all', '--stack'], "'--stack <name>' argument"],
    ['which option belongs to another command', ['revoke', 'a@b', '--force', local], "'--force'"],
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

describe('A command for a copy of an archive', () => {
  const [copy, elsewhere] = [folderForThisFile(), folderForThisFile()];
  const [key, own, output] = [join(elsewhere, 'key'), join(copy, 'own'), join(elsewhere, 'new')];
  const pem = (public_: KeyObject) => public_.export({ type: 'spki', format: 'pem' });
  beforeAll(() => {
    for (const file of [key, own]) writeFileSync(file, pem(localSigner(makeKey()).publicKey));
  });
  const archive = ['--archive', copy];
  const both = [...archive, '--public-key', key];

  /** Arguments of either command, its message, and the exit status where it is not 2. */
  const rows: readonly [string, readonly string[], string, number?][] = [
    ['export-audit', [...both, '--user-id', 'five'], '--user-id must be an integer'],
    ['export-audit', [...both, '--action', 'GRANT'], '--action must be one of CREATE, READ'],
    ['export-audit', [...both, '--result', 'success'], '--result must be one of SUCCESS, FAILURE'],
    ['export-audit', [...both, '--resource-id', ''], '--resource-id must have 1 to 100'],
    ['export-audit', [...both, '--resource-id', 'x'.repeat(101)], '--resource-id must have 1 to'],
    ['export-audit', [...both, '--format', 'xml'], '--format must be one of ndjson, csv'],
    ['export-audit', [...both, '--since', 'noon'], '--since must be a date'],
    ['export-audit', both, `Nothing was exported: there is no file in ${copy}.`, 1],
    ['export-audit', archive, '--archive needs --public-key FILE'],
    ['verify-audit', archive, '--archive needs --public-key FILE'],
    ['verify-audit', [...archive, '--public-key='], '--public-key needs a file'],
    ['verify-audit', [...archive, '--public-key', own], 'a key that you keep elsewhere'],
    ['verify-audit', [...archive, '--public-key', output], `${output} does not exist`],
    ['verify-audit', [...both, '--since=2026-02-31'], '--since must be a date'],
    ['verify-audit', [...both, '--since=2026-02-01', '--until=2026-02-01'], 'must be before'],
    ['verify-audit', both, 'Nothing was verified'],
    ['verify-audit', [`--local=${copy}`], 'There is no data in'],
  ];
  it.each(rows)('fails with a message: %s %j', async (name, args, message, expected = 2) => {
    const operands = name === 'export-audit' ? [output] : [];

    const { status, stdout, stderr } = await operate([name, ...operands, ...args], {
      environment: { XDG_STATE_HOME: elsewhere },
    });

    expect(stderr).toContain(message);
    expect([status, stdout]).toEqual([expected, '']);
    expect(existsSync(output)).toBe(false);
  });

  it.each([
    ['a private key', makeKey(), 'is a private key'],
    [
      'a key of another kind',
      pem(generateKeyPairSync('x25519').publicKey),
      'is not a public Ed25519 key',
    ],
    ['no key', 'x', 'is not a public Ed25519 key'],
  ])('ends with 2 when the public key is %s', async (_, content, message) => {
    const file = join(elsewhere, 'other');
    writeFileSync(file, content);

    const ended = await operate(['verify-audit', ...archive, '--public-key', file]);

    const stderr = expect.stringContaining(`${file} ${message}`);
    expect(ended).toEqual({ status: 2, stdout: '', stderr });
  });
});

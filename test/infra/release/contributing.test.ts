import { execFile, execFileSync } from 'node:child_process';
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { folderForThisFile } from '../../support/folder.ts';
import { cleanEnvironment } from '../../support/operator.ts';

const blocks = [
  ...readFileSync('.github/CONTRIBUTING.md', 'utf8').matchAll(/^```ts\n(.*?)^```$/gms),
].map(([, block = '']) => block);

/** The block that has a text, and that text once. */
const blockWith = (text: string): string => {
  const found = blocks.filter((block) => block.includes(text));
  expect([text, found.length]).toEqual([text, 1]);
  return found[0] ?? '';
};

const execute = promisify(execFile);

const copy = folderForThisFile();

const write = (file: string, content: string) => writeFileSync(join(copy, file), content);

/** Puts text before some that a file has. */
const insert = (file: string, text: string, before: string): void => {
  const content = readFileSync(join(copy, file), 'utf8');
  expect([file, content.split(before).length]).toEqual([file, 2]);
  write(
    file,
    content.replace(before, () => text + before),
  );
};

const followTheExample = (): void => {
  const files = execFileSync('git', ['ls-files', '-z'], { encoding: 'utf8' }).split('\0');
  for (const file of files.filter((name) => name !== '')) cpSync(file, join(copy, file));
  symlinkSync(resolve('node_modules'), join(copy, 'node_modules'));

  const contract = blockWith('as const satisfies Contract');
  const imported = contract.slice(0, contract.indexOf('\n') + 1);
  write('test/functions/users/list-audit-logs.test.ts', blockWith('describe('));
  insert('functions/users/contract.ts', imported, '\nconst newUser = ');
  const rest = `${contract.slice(imported.length)}\n`;
  insert('functions/users/contract.ts', rest, 'export const tag = ');
  insert(
    'functions/users/contract.ts',
    blockWith('summary:'),
    '  removeSecondFactor: (settings) => ({\n    id',
  );
  write('functions/users/list-audit-logs.ts', blockWith('export const handler'));
  insert('infra/handler-uses.ts', blockWith("'users/list-audit-logs': ["), "  'users/remove': [");
  insert(
    'infra/permissions.ts',
    blockWith("'audit.query-user': ["),
    '  /** Leaves marks of queries',
  );
  insert(
    'test/support/examples.ts',
    blockWith("operations: ['read', 'read audit']"),
    "  'GET /api/admin/audit-logs': auditQuery,\n",
  );
};

/** Runs a command in the copy. @returns its status, and what it printed */
const run = async (command: string, args: readonly string[]): Promise<[number, string]> => {
  const env = { ...cleanEnvironment(), NO_COLOR: '1', REPORT: 'contributing' };
  try {
    return [0, (await execute(command, args, { cwd: copy, env })).stdout];
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return [code, stdout + stderr];
  }
};

describe('The endpoint that .github/CONTRIBUTING.md adds', () => {
  followTheExample();

  it('compiles', async () => {
    expect(await run('tsc', [])).toEqual([0, '']);
  });

  it('passes its own test and the tests of every endpoint', async () => {
    const files = ['functions/users/list-audit-logs', 'functions/every-endpoint'];
    const paths = files.map((file) => `test/${file}.test.ts`);

    const [status, said] = await run('vitest', [
      'run',
      '--config',
      'test/vitest.config.ts',
      ...paths,
    ]);

    expect(status, said).toBe(0);
    expect(said).toMatch(/Test Files +2 passed \(2\)/);
  });

  it('has the permissions that its uses require', async () => {
    const [status, said] = await run('vitest', [
      'run',
      '--config',
      'test/vitest.config.ts',
      'test/infra/stack/function.test.ts',
      '-t',
      'users.*audit-logs',
    ]);

    expect(status, said).toBe(0);
  });
});

import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, expect, it } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'floors-'));
afterAll(() => rmSync(folder, { recursive: true }));
for (const name of ['.biome.jsonc', '.gitignore']) cpSync(name, join(folder, name));

/** What the linter says of a file that imports another one. */
const lintImport = (file: string, imported: string): string => {
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  writeFileSync(
    join(folder, file),
    `import { one } from '${imported}';\n\nexport const two = one;\n`,
  );
  const args = ['lint', '--only=style/noRestrictedImports', file];
  const { stdout, stderr } = spawnSync(resolve('node_modules/.bin/biome'), args, {
    cwd: folder,
    encoding: 'utf8',
  });
  return stdout + stderr;
};

it.each([
  ['functions/users/get.ts', '../../infra/routes.ts', '../../lib/users/store.ts'],
  ['functions/users/get.ts', '../../lib/seal/door.ts', '../../lib/audit/store.ts'],
  ['functions/audit-seal/index.ts', '../../lib/seal/sealer.ts', '../../lib/seal/door.ts'],
  ['lib/http/access.ts', '../../functions/users/get.ts', '../contract/users.ts'],
  ['lib/contract/users.ts', '../http/endpoint.ts', '../users/user.ts'],
  ['lib/reset/reset.ts', '../contract/users.ts', '../auth/limits.ts'],
  ['lib/auth/log-in.ts', '../reset/reset.ts', '../users/store.ts'],
  ['lib/users/store.ts', '../auth/token.ts', '../dynamodb/client.ts'],
  ['lib/audit/record.ts', '../users/store.ts', '../dynamodb/client.ts'],
  ['lib/mail/send.ts', '../users/store.ts', '../errors.ts'],
  ['lib/dynamodb/client.ts', '../audit/store.ts', '../errors.ts'],
  ['lib/time.ts', './dynamodb/client.ts', './errors.ts'],
  ['infra/stack/table.ts', '../../lib/users/store.ts', '../../lib/dynamodb/tables.ts'],
  ['infra/local/start.ts', 'aws-cdk-lib', '../../lib/users/store.ts'],
])('The linter forbids %s to import %s, which is above it, but not %s', (file, above, below) => {
  expect(lintImport(file, above)).toContain('noRestrictedImports');
  expect(lintImport(file, below)).not.toContain('noRestrictedImports');
});

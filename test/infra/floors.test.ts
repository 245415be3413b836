import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { expect, it } from 'vitest';

/** A file, a module that it must not import, and one that it may. */
const floors = [
  ['functions/users/get.ts', '../../infra/routes.ts', '../../lib/users/store.ts'],
  ['functions/users/list.ts', '../../lib/seal/header.ts', '../../lib/audit/store.ts'],
  ['functions/audit-seal/get.ts', '../../infra/routes.ts', '../../lib/seal/header.ts'],
  ['functions/background/seal-audit.ts', '../../infra/routes.ts', '../../lib/seal/check.ts'],
  ['lib/http/access.ts', '../../functions/users/get.ts', '../contract/users.ts'],
  ['lib/http/response.ts', '../seal/header.ts', '../errors.ts'],
  ['lib/contract/users.ts', '../http/endpoint.ts', '../users/user.ts'],
  ['lib/reset/reset.ts', '../contract/users.ts', '../auth/own-change.ts'],
  ['lib/auth/log-in.ts', '../reset/reset.ts', '../second-factor/factor.ts'],
  ['lib/second-factor/factor.ts', '../auth/token.ts', '../users/store.ts'],
  ['lib/users/store.ts', '../second-factor/factor.ts', '../dynamodb/client.ts'],
  ['lib/audit/record.ts', '../users/store.ts', '../dynamodb/client.ts'],
  ['lib/audit/store.ts', '../seal/header.ts', '../dynamodb/page.ts'],
  ['lib/mail/hand-over.ts', '../auth/token.ts', '../limits/counters.ts'],
  ['lib/limits/counters.ts', '../mail/send.ts', '../users/items.ts'],
  ['lib/seal/table.ts', '../users/store.ts', '../audit/store.ts'],
  ['lib/dynamodb/client.ts', '../audit/store.ts', '../errors.ts'],
  ['lib/time.ts', './dynamodb/client.ts', './errors.ts'],
  ['infra/stack/table.ts', '../../lib/users/store.ts', '../../lib/dynamodb/tables.ts'],
  ['infra/stack/audit-seal.ts', '../../lib/seal/header.ts', '../../lib/settings.ts'],
  ['infra/local/start.ts', 'aws-cdk-lib', '../../lib/users/store.ts'],
  ['infra/local/sealing.ts', 'aws-cdk-lib', '../../lib/seal/folder.ts'],
] as const;

/** Lints files with these imports, the forbidden one on line 1. @returns what the linter says */
const lint = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'floors-'));
  try {
    for (const name of ['.biome.jsonc', '.gitignore']) cpSync(name, join(folder, name));
    for (const [file, above, below] of floors) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      const imports = `import { a } from '${above}';\nimport { b } from '${below}';\n`;
      writeFileSync(join(folder, file), `${imports}\nexport const c = [a, b];\n`);
    }
    const args = ['lint', '--only=style/noRestrictedImports', '--max-diagnostics=none', '.'];
    const options = { cwd: folder, encoding: 'utf8' } as const;
    const { stdout, stderr } = spawnSync(resolve('node_modules/.bin/biome'), args, options);
    return stdout + stderr;
  } finally {
    rmSync(folder, { recursive: true });
  }
};
const said = lint();

it.each(floors)('The linter forbids %s to import %s, and allows %s', (file) => {
  expect(said).toContain(`${file}:1:`);
  expect(said).not.toContain(`${file}:2:`);
});

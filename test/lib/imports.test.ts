import { spawnSync } from 'node:child_process';
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, it } from 'vitest';

// Pages import the sources of functions/console/web, and Node never does.
const files = globSync('{functions,lib}/**/*.ts', { exclude: ['functions/console/web/**'] });
const ours = /(?<!node_modules.*)\/(?:functions|lib)\/[\w./-]+\.ts/;

const environment = process.env;
afterAll(() => {
  process.env = environment;
});

/** Notes in a list each variable that our own code reads, and where. */
const watchEnvironment = (reads: string[]): void => {
  process.env = new Proxy(environment, {
    get: (variables, name: string) => {
      const [, , ...callers] = new Error().stack?.split('\n') ?? [];
      const isOurs = ours.test(callers[0] ?? '');
      const readers = callers.flatMap((at) => ours.exec(at)?.[0] ?? []);
      if (isOurs) reads.push(`${name} by ${readers.join(', for ')}`);
      return variables[name];
    },
  });
};

it('No module of lib or of a function reads the environment while it is imported', async () => {
  const reads: string[] = [];
  watchEnvironment(reads);

  for (const file of files) {
    await import(/* @vite-ignore */ new URL(`../../${file}`, import.meta.url).href);
  }

  expect(files.length).toBeGreaterThan(30);
  expect(reads).toEqual([]);
});

/** Paths that a file imports as values. An import of types alone loads nothing. */
const importedValues = (file: string): readonly string[] =>
  [...readFileSync(file, 'utf8').matchAll(/^import (?!type )([^;]*?) from '(\.[^']+)';$/gm)]
    .filter(([, names = '']) => /(?:^|[{,]\s*)(?!type\b)\w/.test(names) || names.startsWith('*'))
    .map(([, , path = '']) => join(file, '..', path));

/** The files of the project that are loaded with one of them. */
const loadedWith = (file: string): ReadonlySet<string> => {
  const loaded = new Set([file]);
  // The set grows while it is walked.
  for (const each of loaded) for (const imported of importedValues(each)) loaded.add(imported);
  return loaded;
};

it.each([
  ['a login', 'functions/auth/login.ts', 40],
  ['a change of a user', 'functions/users/update.ts', 44],
])('A reader who follows %s (%s) opens at most %i files', (_, file, most) => {
  const loaded = loadedWith(file);

  expect(loaded).toContain('lib/http/endpoint.ts');
  expect([...loaded].length).toBeLessThanOrEqual(most);
});

const imports = [
  ['lib/audit/store.ts', '../seal/sealer.ts', true],
  ['lib/http/handler.ts', '../seal/sealer.ts', true],
  ['lib/settings.ts', './seal/sealer.ts', true],
  ['functions/users/list.ts', '../../lib/seal/sealer.ts', true],
  ['functions/background/seal-audit.ts', '../../lib/seal/door.ts', false],
  ['functions/background/send-mail.ts', '../../lib/seal/round.ts', true],
  ['infra/local/sealing.ts', '../../lib/seal/door.ts', false],
  ['infra/operator/commands/export-audit.ts', '../../../lib/seal/read.ts', true],
  ['infra/stack/audit-seal.ts', '../../lib/seal/door.ts', true],
  ['lib/second-factor/factor.ts', '../auth/token.ts', true],
  ['lib/users/store.ts', '../second-factor/factor.ts', true],
  ['lib/seal/sealer.ts', '../users/store.ts', true],
  ['lib/seal/table.ts', '../audit/store.ts', false],
] as const;

/** Lints files that only import. @returns the names of those that the linter refuses */
const lintImports = (): readonly string[] => {
  const folder = mkdtempSync(join(tmpdir(), 'imports-'));
  try {
    cpSync('.biome.jsonc', join(folder, 'biome.jsonc'));
    for (const [file, imported] of imports) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      writeFileSync(
        join(folder, file),
        `import { a } from '${imported}';\n\nexport const b = a;\n`,
      );
    }
    const biome = join(process.cwd(), 'node_modules/.bin/biome');
    const args = ['lint', '--only=style/noRestrictedImports', '--vcs-enabled=false', '.'];
    const { stdout, stderr } = spawnSync(biome, args, { cwd: folder, encoding: 'utf8' });
    return imports
      .map(([file]) => file)
      .filter((file) => `${stdout}${stderr}`.includes(`${file}:1:`));
  } finally {
    rmSync(folder, { recursive: true });
  }
};

it('The linter refuses imports that point up, and those of the seal from outside its rooms', () => {
  const refused = imports.filter(([, , isRefused]) => isRefused).map(([file]) => file);

  expect(lintImports()).toEqual(refused);
});

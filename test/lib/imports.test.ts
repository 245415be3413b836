import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
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

import { globSync } from 'node:fs';
import { afterAll, expect, it } from 'vitest';

// Only pages import the sources of functions/console/web; Node never does.
const files = globSync('{functions,lib}/**/*.ts', { exclude: ['functions/console/web/**'] });
const ours = /(?<!node_modules.*)\/(?:functions|lib)\/[\w./-]+\.ts/;

const environment = process.env;
afterAll(() => {
  process.env = environment;
});

/** Adds to a list each variable that our own code reads, and the place of the read. */
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

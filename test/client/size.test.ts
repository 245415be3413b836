/** How much a page loads with each entry of the client. */
import { gzipSync } from 'node:zlib';
import { buildSync } from 'esbuild';
import { expect, it } from 'vitest';

/** Bytes of an entry as a page loads it: bundled, minified and compressed. */
const sizeOf = (entry: string, external: string[] = []): number => {
  const { outputFiles } = buildSync({
    entryPoints: [`functions/client/${entry}.ts`],
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    write: false,
    external,
  });
  return gzipSync(outputFiles[0]?.contents ?? '', { level: 9 }).length;
};

it.each([
  ['index', 6000, []],
  ['passkeys', 2000, ['./answer.ts']],
  ['react', 500, ['react']],
])('The entry %s has at most %i bytes', (entry, bytes, external) => {
  expect(sizeOf(entry, external)).toBeLessThanOrEqual(bytes);
  expect(sizeOf(entry, external)).toBeGreaterThan(0);
});

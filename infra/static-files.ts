/**
 * Prepares the files that pages load: compressed once, under names that change with their content.
 * The stack puts them beside the code of the function that serves them; the local service reads them
 * from a cache folder in node_modules.
 */
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, gzipSync } from 'node:zlib';

const root = fileURLToPath(new URL('..', import.meta.url));
const swagger = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));

/** The sources of the files of each page. */
const pages: Readonly<Record<string, readonly string[]>> = {
  docs: [
    join(swagger, 'swagger-ui.css'),
    join(swagger, 'swagger-ui-bundle.js'),
    join(root, 'functions/docs/web/page.css'),
    join(root, 'functions/docs/web/page.js'),
  ],
};

interface NamedFile {
  readonly source: string;
  readonly name: string;
  readonly content: Buffer;
}

const readNamed = (path: string): NamedFile => {
  const [content, source] = [readFileSync(path), basename(path)];
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 16);
  const ending = extname(source);
  return { source, name: `${basename(source, ending)}.${hash}${ending}`, content };
};

const write = (folder: string, files: readonly NamedFile[]): void => {
  mkdirSync(folder, { recursive: true });
  for (const { name, content } of files) {
    writeFileSync(join(folder, `${name}.br`), brotliCompressSync(content));
    writeFileSync(join(folder, `${name}.gz`), gzipSync(content, { level: 9 }));
  }
  const names = Object.fromEntries(files.map(({ source, name }) => [source, name]));
  writeFileSync(join(folder, 'names.json'), JSON.stringify(names));
};

/**
 * The folder of the files of all pages, which STATIC_FILES names. It is created when it does not exist
 * or a source has changed, which takes some seconds.
 */
export const staticFilesFolder = (): string => {
  const all = Object.entries(pages).map(([page, paths]) => [page, paths.map(readNamed)] as const);
  const names = all.flatMap(([, files]) => files.map(({ name }) => name));
  const version = createHash('sha256').update(names.join()).digest('hex').slice(0, 16);
  const cache = join(root, 'node_modules/.cache/static-files');
  const folder = join(cache, version);
  if (existsSync(folder)) return folder;
  mkdirSync(cache, { recursive: true });
  const unfinished = mkdtempSync(join(cache, '.'));
  for (const [page, files] of all) write(join(unfinished, page), files);
  try {
    renameSync(unfinished, folder);
  } catch (error) {
    // Another process has created it meanwhile.
    if (!existsSync(folder)) throw error;
    rmSync(unfinished, { recursive: true });
  }
  return folder;
};

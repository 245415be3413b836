/**
 * Prepares the files that pages load: bundles their sources, compresses each file, and gives it a name that changes
 * with its content. The stack puts the files beside the code of the function that serves them; the local service reads
 * them from a cache folder in node_modules.
 */
import { createHash } from 'node:crypto';
import {
  existsSync,
  globSync,
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
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { shownSettings } from '../lib/ground/settings.ts';
import { readMeanings } from './meanings.ts';
import { noticesOf } from './notices.ts';

const require = createRequire(import.meta.url);
const root = fileURLToPath(new URL('..', import.meta.url));
const swagger = dirname(require.resolve('swagger-ui-dist/package.json'));
const web = join(root, 'functions/console/web');
const client = join(root, 'functions/client');

interface Page {
  readonly files: readonly string[];
  /** The sources that the files import, which esbuild bundles. Absent: the files are served unchanged. */
  readonly sources?: readonly string[];
}

const pages: Readonly<Record<string, Page>> = {
  docs: {
    files: [
      join(swagger, 'swagger-ui.css'),
      join(swagger, 'swagger-ui-bundle.js'),
      join(root, 'functions/docs/web/page.css'),
      join(root, 'functions/docs/web/page.js'),
    ],
  },
  console: {
    files: [join(web, 'main.tsx'), join(web, 'link-form.ts'), join(web, 'style.css')],
    sources: [
      ...[web, client].flatMap(filesIn),
      join(root, 'functions/console/mark.ts'),
      // These files say which versions of packages are bundled, and how.
      join(root, 'package.json'),
      fileURLToPath(import.meta.url),
      join(root, 'infra/notices.ts'),
      join(root, 'infra/meanings.ts'),
      join(root, 'infra/settings.md'),
      join(root, 'lib/ground/settings.ts'),
    ],
  },
};

/**
 * The folder of the files of all pages, which STATIC_FILES names. It is created if it does not exist or if a source has
 * changed; this takes some seconds.
 */
export function staticFilesFolder(): string {
  const sources = Object.values(pages).flatMap((page) => page.sources ?? page.files);
  const version = hashOf(sources.map((path) => path + hashOf(readFileSync(path))).join());
  const cache = join(root, 'node_modules/.cache/static-files');
  const folder = join(cache, version);
  if (existsSync(folder)) return folder;
  mkdirSync(cache, { recursive: true });
  const unfinished = mkdtempSync(join(cache, '.'));
  for (const [page, { files, sources }] of Object.entries(pages)) {
    const unchanged = files.map((path): File => [path, readFileSync(path)]);
    write(join(unfinished, page), sources ? bundle(files) : [...unchanged, notices(files)]);
  }
  try {
    renameSync(unfinished, folder);
  } catch (error) {
    // Another process may have created the folder meanwhile.
    if (!existsSync(folder)) throw error;
    rmSync(unfinished, { recursive: true });
  }
  return folder;
}

function filesIn(folder: string): readonly string[] {
  return globSync('**/*.*', { cwd: folder }).map((name) => join(folder, name));
}

function hashOf(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex').slice(0, 16);
}

type File = readonly [path: string, content: Uint8Array];

function write(folder: string, files: readonly File[]): void {
  mkdirSync(folder, { recursive: true });
  const names = files.map(([path, content]) => {
    const name = nameOf(path, content);
    // At the first start, the best compression of Swagger UI would take four seconds, and save only 9 % of its size.
    const params = { [constants.BROTLI_PARAM_QUALITY]: content.length > 2 ** 20 ? 9 : 11 };
    writeFileSync(join(folder, `${name}.br`), brotliCompressSync(content, { params }));
    writeFileSync(join(folder, `${name}.gz`), gzipSync(content, { level: 9 }));
    return [basename(path), name];
  });
  writeFileSync(join(folder, 'names.json'), JSON.stringify(Object.fromEntries(names)));
}

/** The name that esbuild gives to a file which scripts import: it has the hash of the content. */
const chunk = /\.[0-9A-Z]{8}\.js$/;

function nameOf(path: string, content: Uint8Array): string {
  const ending = extname(path);
  return chunk.test(path)
    ? basename(path)
    : `${basename(path, ending)}.${hashOf(content)}${ending}`;
}

/** The bundled files, without comments, and the notices of the packages in them. */
function bundle(entryPoints: readonly string[]): readonly File[] {
  // esbuild takes a tenth of a second to load, and is needed only after a change.
  const { buildSync }: typeof import('esbuild') = require('esbuild');
  const { outputFiles, metafile } = buildSync({
    entryPoints: [...entryPoints],
    absWorkingDir: root,
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    outdir: '/',
    format: 'esm',
    splitting: true,
    chunkNames: '[name].[hash]',
    target: 'es2024',
    legalComments: 'none',
    logLevel: 'warning',
  });
  const inputs = Object.keys(metafile.inputs).map((path) => join(root, path));
  const bundled = outputFiles.map(({ path, contents }): File => [path, contents]);
  return [...bundled, notices(inputs), meaningsShown()];
}

function notices(files: readonly string[]): File {
  return ['notices.txt', Buffer.from(noticesOf(files))];
}

/** The meanings of the settings that one screen of the console loads, as plain text. */
function meaningsShown(): File {
  const meanings = readMeanings();
  const texts = Object.keys(shownSettings).map((name) => [
    name,
    meanings[name]?.replaceAll('`', ''),
  ]);
  return ['meanings.json', Buffer.from(JSON.stringify(Object.fromEntries(texts)))];
}

/** The steps of making a package that both packages have. */
import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../stack/bundling/temporary-folder.ts';

export const root = fileURLToPath(new URL('../..', import.meta.url));

/** The manifest of the repository, with the name of the service and the version of both packages. */
export const repository = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/**
 * Has the compiler write the declarations of files.
 * @param files the paths from the root of the repository
 * @param options the differences to the repository's own options, among them `outDir` and `rootDir`
 */
export function compile(files: readonly string[], options: object): void {
  const config = join(temporaryFolder(), 'tsconfig.json');
  const typeRoots = [join(root, 'node_modules/@types')];
  const written = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: { noEmit: false, declaration: true, typeRoots, ...options },
    files: files.map((file) => join(root, file)),
    include: [],
  };
  writeFileSync(config, JSON.stringify(written));
  execFileSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', config], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
}

/** Packs the files of a folder, with a manifest and the licence. @returns the file of the package */
export function pack(
  folder: string,
  manifest: { readonly name: string; readonly version: string },
  destination: string,
): string {
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest, null, 2));
  cpSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  execFileSync('npm', ['pack', '--silent', '--pack-destination', destination], { cwd: folder });
  return join(destination, `${manifest.name}-${manifest.version}.tgz`);
}

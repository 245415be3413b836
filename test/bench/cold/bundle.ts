import { join } from 'node:path';
import type { bundle, EntryFile } from '../../../infra/stack/bundling/bundle.ts';

export interface Bundle {
  readonly name: string;
  /** The file that Lambda loads. */
  readonly file: string;
  readonly bytes: number;
  /** Paths, from the root of the repository, of the modules whose code is in the bundle. */
  readonly modules: readonly string[];
}

/** The bundles of files, in the folders of their names. @param outputs the metadata of esbuild */
export const bundlesIn = (
  folder: string,
  sources: readonly EntryFile[],
  outputs: ReturnType<typeof bundle>,
): Bundle[] =>
  sources.map(({ name }) => {
    const file = join(name, 'index.js');
    const [, output] = Object.entries(outputs).find(([path]) => path.endsWith(`/${file}`)) ?? [];
    const modules = Object.entries(output?.inputs ?? {})
      .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
      .map(([path]) => path);
    return { name, file: join(folder, file), bytes: output?.bytes ?? 0, modules };
  });

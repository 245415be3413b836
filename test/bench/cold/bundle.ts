import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { App, Stack } from 'aws-cdk-lib';
import { Runtime } from 'aws-cdk-lib/aws-lambda';
import { type BundlingOptions, NodejsFunction } from 'aws-cdk-lib/aws-lambda-nodejs';
import type { Asset } from 'aws-cdk-lib/aws-s3-assets';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** A function to bundle. */
export interface Source {
  readonly name: string;
  /** Path from the root of the repository. */
  readonly entry: string;
  readonly bundling: BundlingOptions;
}

export interface Bundle {
  readonly name: string;
  /** The file that Lambda loads. */
  readonly file: string;
  readonly bytes: number;
  /** Paths of the modules that are in it, from the root of the repository. */
  readonly modules: readonly string[];
}

interface Metafile {
  readonly outputs: Readonly<
    Record<string, { bytes: number; inputs: Record<string, { bytesInOutput: number }> }>
  >;
}

/** What esbuild says of its one output; modules of which nothing is left are not in it. */
const describe = (folder: string): Omit<Bundle, 'name'> => {
  const metafile: Metafile = JSON.parse(readFileSync(join(folder, 'index.meta.json'), 'utf8'));
  const [output] = Object.values(metafile.outputs);
  const modules = Object.entries(output?.inputs ?? {})
    .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
    .map(([path]) => path);
  return { file: join(folder, 'index.js'), bytes: output?.bytes ?? 0, modules };
};

/** Bundles functions by the construct that the stack uses, one second each. */
export const bundle = (sources: readonly Source[], folder: string): Bundle[] => {
  const stack = new Stack(new App({ outdir: folder }), 'Bundles');
  return sources.map(({ name, entry, bundling }) => {
    const lambda = new NodejsFunction(stack, name, {
      entry: join(root, entry),
      projectRoot: root,
      depsLockFilePath: join(root, 'package-lock.json'),
      runtime: Runtime.NODEJS_24_X,
      bundling: { ...bundling, metafile: true },
    });
    const { assetPath } = lambda.node.findChild('Code') as Asset;
    return { name, ...describe(join(folder, assetPath)) };
  });
};

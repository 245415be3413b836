import { type BundlingOptions, OutputFormat } from 'aws-cdk-lib/aws-lambda-nodejs';

/** How esbuild makes one file of a function and what it imports. */
export const bundling: BundlingOptions = {
  format: OutputFormat.ESM,
  mainFields: ['module', 'main'],
  target: 'node24',
  // CommonJS inside an ES module calls `require` for the built-in modules.
  banner:
    "import { createRequire as makeRequire } from 'node:module';const require = makeRequire(import.meta.url);",
};

import { join } from 'node:path';

/** The folder of the finished bundles. In the package, this file replaces infra/stack/bundling/bundles.ts. */
export function bundlesFolder(): string {
  return join(import.meta.dirname, 'functions');
}

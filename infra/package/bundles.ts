import { join } from 'node:path';

/** In the package, instead of infra/stack/bundling/bundles.ts: the bundles that were made with it. */
export function bundlesFolder(): string {
  return join(import.meta.dirname, 'functions');
}

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

let all: string | undefined;

/** A new folder, which exists as long as this process runs. */
export function temporaryFolder(): string {
  if (all === undefined) {
    const made = mkdtempSync(join(tmpdir(), 'bundles-'));
    process.once('exit', () => rmSync(made, { recursive: true }));
    all = made;
  }
  return mkdtempSync(join(all, 'of-'));
}

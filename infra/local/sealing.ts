import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { auditTrailBroken, describeFault, logError } from '../../lib/ground/log.ts';
import {
  localSigner,
  makeKey,
  publicKeyName,
  removeUnfinished,
} from '../../lib/seal/folder-archive.ts';
import type { NamedFinding } from '../../lib/seal/header.ts';
import { createPrivately, writePrivately } from './data-folder.ts';
import { makeRemoval } from './expiry.ts';

/** The signer with the key in a data folder; undefined if nothing was ever sealed there. */
export function signerIn(folder: string) {
  const file = keyFile(folder);
  return existsSync(file) ? localSigner(readFileSync(file, 'utf8')) : undefined;
}

/**
 * Starts to seal the audit trail into a data folder, and to remove expired items.
 * @param interval seconds from one run to the next
 * @returns a function that stops both
 */
export function startSealing(folder: string, interval: number): () => Promise<void> {
  const pem = prepareKey(folder);
  showPublicKey(folder, pem);
  const environment = { ...process.env };
  const remove = makeRemoval();
  const ending = new AbortController();
  const { signal } = ending;
  const logAs = (event: string) => (error: unknown) => {
    if (!signal.aborted) logError(event, describeFault(error));
  };
  const run = async () => {
    await removeUnfinished(archiveFolder(folder));
    while (!signal.aborted) {
      const next = performance.now() + interval * 1000;
      await runSealer({ folder, interval }, environment, signal)
        .finally(() => showPublicKey(folder, pem))
        .catch(logAs('audit-seal-failed'));
      await remove(signal).catch(logAs('removal-failed'));
      const wait = Math.max(0, next - performance.now());
      await sleep(wait, undefined, { signal, ref: false }).catch(() => undefined);
    }
  };
  const ended = run();
  return async () => {
    ending.abort();
    await ended;
  };
}

export function archiveFolder(folder: string): string {
  return join(folder, 'audit-archive');
}

/** The file of the signing key. It is not in the archive, because people copy the archive. */
function keyFile(folder: string) {
  return join(folder, 'audit-seal-key.pem');
}

/** Makes the signing key at the first start. @returns the public key, in PEM form */
function prepareKey(folder: string): string {
  if (!existsSync(keyFile(folder))) createPrivately(keyFile(folder), makeKey());
  const signer = localSigner(readFileSync(keyFile(folder), 'utf8'));
  return signer.publicKey.export({ type: 'spki', format: 'pem' }).toString();
}

/**
 * Writes the public key into the archive, unless the archive has it. A data folder that was deleted is not created
 * again.
 */
function showPublicKey(folder: string, pem: string): void {
  if (!existsSync(folder)) return;
  const file = join(archiveFolder(folder), publicKeyName);
  mkdirSync(archiveFolder(folder), { recursive: true, mode: 0o700 });
  const isShown = statSync(file, { throwIfNoEntry: false })?.isFile();
  if (!isShown || readFileSync(file, 'utf8') !== pem) writePrivately(file, pem);
}

const program = fileURLToPath(new URL('seal.ts', import.meta.url));

/**
 * Runs the sealer once, in a process of its own: the process frees its memory when it ends, may be killed at any time,
 * and logs its own failures.
 */
async function runSealer(
  { folder, interval }: { folder: string; interval: number },
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<void> {
  const child = spawn(process.execPath, [program, folder, String(interval)], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  createInterface(child.stderr).on('line', (line) => console.error(withSentence(line)));
  const kill = () => child.kill();
  signal.addEventListener('abort', kill);
  const [code, killed] = await once(child, 'exit').finally(() =>
    signal.removeEventListener('abort', kill),
  );
  if (code === 0 || signal.aborted || !existsSync(folder)) return;
  logError('audit-seal-failed', { fault: `The process ended with ${code ?? killed}` });
}

/**
 * A line of the sealer's log. If the line reports findings, it is followed by a sentence for whoever reads the
 * terminal.
 */
function withSentence(line: string): string {
  if (!line.includes(`"event":"${auditTrailBroken}"`)) return line;
  const { faults, findings } = JSON.parse(line);
  const named = findings.map(({ kind, subject }: NamedFinding) => `${subject} (${kind})`);
  return `${line}\nThe audit trail, or the archive of its seal, is not as it was sealed: ${named.join(', ')}${faults > named.length ? ' and others' : ''}.`;
}

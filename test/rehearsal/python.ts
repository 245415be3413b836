import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pythonProgram as installedProgram } from '../support/python.ts';
import { root, workspace } from './workspace.ts';

const packages = {
  requirements: join(root, 'test/rehearsal/requirements.txt'),
  folder: join(workspace, 'python'),
};

/** Path of a program of the emulator's Python. */
export const pythonProgram = (name: string): string => join(packages.folder, 'bin', name);

/** Installs the emulator and the command line of AWS, once for each version, and says which emulator. */
export const installPython = async (): Promise<string> => {
  installedProgram('ministack', packages);
  const [emulator = ''] = readFileSync(packages.requirements, 'utf8').split('\n');
  return emulator;
};

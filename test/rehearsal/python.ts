import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pythonProgram as installedProgram } from '../support/python.ts';
import { root, workspace } from './workspace.ts';

const packages = {
  requirements: join(root, 'test/rehearsal/requirements.txt'),
  folder: join(workspace, 'python'),
};

/** The path of a program that is installed with the emulator. */
export const pythonProgram = (name: string): string => join(packages.folder, 'bin', name);

/** Installs the emulator and the AWS command line, once for each version. @returns the version of the emulator */
export const installPython = async (): Promise<string> => {
  installedProgram('ministack', packages);
  const [emulator = ''] = readFileSync(packages.requirements, 'utf8').split('\n');
  return emulator;
};

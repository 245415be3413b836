import { execFileSync } from 'node:child_process';
import { closeSync, constants, lstatSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** A named pipe, of which every engine on the folder has one end for as long as it runs. */
const pipeIn = (folder: string) => join(folder, 'engine.pipe');

const isHeld = (pipe: string): boolean => {
  try {
    if (!lstatSync(pipe).isFIFO()) return false;
    closeSync(openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK));
    return true;
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    // ENXIO: nobody has the other end.
    if (code === 'ENOENT' || code === 'ENXIO') return false;
    throw error;
  }
};

/** Milliseconds for an engine whose service was killed to end: it is told at once. */
const endTimeout = 10_000;

/**
 * Waits until no engine has the data of a folder open. One outlives its service that was killed by
 * an instant.
 * @returns a file descriptor for the next engine to inherit, by which it is seen in its turn
 * @throws {Error} when an engine does not end
 */
export const holdData = async (folder: string): Promise<number> => {
  const pipe = pipeIn(folder);
  const deadline = Date.now() + endTimeout;
  while (isHeld(pipe)) {
    if (Date.now() > deadline) {
      throw new Error(
        `A DynamoDB engine that nobody uses still has the data in ${folder} open: end that process first.`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  rmSync(pipe, { force: true });
  execFileSync('/bin/sh', ['-c', 'command -p mkfifo -m 600 "$1"', 'sh', pipe]);
  return openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
};

/** Takes away what is left of {@link holdData} when the engine has ended. */
export const releaseData = (folder: string): void => rmSync(pipeIn(folder), { force: true });

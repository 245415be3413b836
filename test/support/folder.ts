import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, onTestFinished } from 'vitest';

/** Registers a function that undoes something at the end; the last one is called first. */
export type AtEnd = (undo: () => void | Promise<void>) => void;

export const makeFolder = (atEnd: AtEnd): string => {
  const folder = mkdtempSync(join(tmpdir(), 'test-'));
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

/** A new folder, which is removed at the end of the file. */
export const folderForThisFile = (): string => makeFolder(afterAll);

/** A new folder, which is removed at the end of the test. */
export const folderForThisTest = (): string => makeFolder(onTestFinished);

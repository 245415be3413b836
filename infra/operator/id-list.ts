import { createPrivateFile } from './files.ts';
import type { Candidate } from './import-lines.ts';

/** A file that tells the ids which users had elsewhere from those they have here. */
export interface IdList {
  add(candidate: Candidate, id: number): void;
  /** Writes what was added since, in the order of the lines. */
  write(): Promise<void>;
  close(): Promise<void>;
  /** Takes the file away. */
  discard(): Promise<void>;
}

const none: IdList = {
  add: () => undefined,
  write: async () => undefined,
  close: async () => undefined,
  discard: async () => undefined,
};

interface Addition {
  readonly line: number;
  readonly text: string;
}

/**
 * @param name of a file that does not exist, which only its owner may read; absent: no list is kept
 * @throws {Failure} when it exists or cannot be made
 */
export const openIdList = async (name: string | boolean | undefined): Promise<IdList> => {
  if (typeof name !== 'string') return none;
  const { handle, discard } = await createPrivateFile(name);
  let added: Addition[] = [];
  return {
    add: ({ line, oldId, user: { email } }, id) => {
      added.push({ line, text: `${JSON.stringify({ old_id: oldId, new_id: id, email })}\n` });
    },
    write: async () => {
      const inOrder = added.sort((a, b) => a.line - b.line);
      added = [];
      await handle.appendFile(inOrder.map(({ text }) => text).join(''));
    },
    close: () => handle.close(),
    discard,
  };
};

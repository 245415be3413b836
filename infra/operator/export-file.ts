import { Failure } from './failure.ts';
import { createPrivateFile } from './files.ts';

/** Takes text, and resolves when there is room for more. */
export type Write = (text: string) => Promise<unknown>;

const toStandardOutput: Write = (text) =>
  new Promise((resolve, reject) => {
    process.stdout.write(text, (cause) => {
      if (cause) reject(new Failure('The export is not complete.', { cause }));
      else resolve(undefined);
    });
  });

/**
 * Has something written to a new file that only its owner may read; what is not complete is taken
 * away again.
 * @param name of the file, or - for standard output
 * @throws {Failure} when the file exists or cannot be made, or standard output cannot be written;
 *   what `writeAll` throws
 */
export const exportTo = async <T>(
  name: string,
  writeAll: (write: Write) => Promise<T>,
): Promise<T> => {
  if (name === '-') return writeAll(toStandardOutput);
  const { handle, discard } = await createPrivateFile(name);
  try {
    const result = await writeAll((text) => handle.appendFile(text));
    await handle.sync();
    await handle.close();
    return result;
  } catch (error) {
    await discard();
    throw error;
  }
};

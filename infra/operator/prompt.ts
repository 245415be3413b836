import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { Writable } from 'node:stream';
import { Failure } from './failure.ts';

export interface Keyboard {
  readonly input: Readable & { readonly isTTY?: boolean };
  /** Shows the questions, never the answers. */
  readonly output: { write(text: string): unknown };
}

/** Bytes of standard input that are read at most; a password has 255 characters. */
const maxBytes = 4096;

const nowhere = () => new Writable({ write: (_chunk, _encoding, done) => done() });

const askTwice = async ({ input, output }: Keyboard): Promise<string> => {
  const questions = createInterface({ input, output: nowhere(), terminal: true, historySize: 0 });
  questions.on('SIGINT', () => questions.close());
  const answers = questions[Symbol.asyncIterator]();
  const ask = async (question: string): Promise<string> => {
    output.write(question);
    const { value, done } = await answers.next();
    output.write('\n');
    if (done) throw new Failure('No password was given: nothing was done.');
    return value;
  };
  try {
    const password = await ask('Password (not shown): ');
    const repeated = await ask('The same again: ');
    if (password !== repeated) throw new Failure('The two differ: nothing was done.');
    return password;
  } finally {
    questions.close();
  }
};

const readAll = async (input: Readable): Promise<string> => {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of input as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > maxBytes) throw new Failure('Standard input is too long for a password.');
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    throw new Failure('The password on standard input is not valid UTF-8.');
  }
};

const readOneLine = async (input: Readable): Promise<string> => {
  const line = (await readAll(input)).replace(/\r?\n$/, '');
  if (line === '') throw new Failure('There is no password on standard input.');
  if (/[\r\n]/.test(line)) {
    throw new Failure('There is more than one line on standard input: only the password belongs.');
  }
  return line;
};

/**
 * A new password: asked for twice at a terminal, where it is not shown; otherwise the one line of
 * standard input.
 * @throws {Failure} when there is none
 */
export const readNewPassword = (
  keyboard: Keyboard = { input: process.stdin, output: process.stderr },
): Promise<string> => (keyboard.input.isTTY ? askTwice(keyboard) : readOneLine(keyboard.input));

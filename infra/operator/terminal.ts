import { createInterface } from 'node:readline';
import { type Readable, Writable } from 'node:stream';
import { Failure } from './failure.ts';

const signals = ['SIGINT', 'SIGTERM'] as const;

/** Keeps Ctrl-C and SIGTERM from ending the process, so that it can finish its current step. */
export function catchInterruption() {
  let requested = false;
  // The listener is not removed after the first signal, because npm passes on a Ctrl-C that this process has already
  // received.
  const note = () => {
    requested = true;
  };
  for (const signal of signals) process.on(signal, note);
  return {
    get requested() {
      return requested;
    },
    /** From now on, signals end the process at once again. */
    release: () => {
      for (const signal of signals) process.off(signal, note);
    },
  };
}

/** The stream on which progress is drawn, usually standard error. */
export interface Screen {
  readonly isTTY?: boolean | undefined;
  write(text: string): unknown;
}

/** Milliseconds between two updates of the bar. */
const interval = 100;

const clear = '\r\u001b[K';

/** Shows the progress of a command, if the screen is a terminal. */
export function startProgress(screen: Screen, clock: () => number = Date.now) {
  let drawnAt = Number.NEGATIVE_INFINITY;
  const wipe = () => {
    if (screen.isTTY) screen.write(clear);
  };
  return {
    /** @param fraction from 0 to 1; undefined if the end is not known */
    show: (fraction: number | undefined, note: string): void => {
      if (!screen.isTTY || clock() - drawnAt < interval) return;
      drawnAt = clock();
      screen.write(`${clear}${fraction === undefined ? '' : bar(fraction)}${note}`);
    },
    /** Writes a line above the bar. */
    line: (text: string): void => {
      wipe();
      screen.write(`${text}\n`);
    },
    end: wipe,
  };
}

export interface Keyboard {
  readonly input: Readable & { readonly isTTY?: boolean };
  /** The output, which shows the questions but never the answers. */
  readonly output: { write(text: string): unknown };
}

/**
 * Reads a new password. On a terminal, the command asks for it twice and does not show it; without a terminal, it is
 * the only line of standard input.
 * @throws {Failure} if there is no password
 */
export function readNewPassword(
  keyboard: Keyboard = { input: process.stdin, output: process.stderr },
): Promise<string> {
  return keyboard.input.isTTY ? askTwice(keyboard) : readOneLine(keyboard.input);
}

/** A time as commands print it. @param time milliseconds since 1970 */
export function shownTime(time: number): string {
  return new Date(time).toISOString().replace(/\.\d+/, '');
}

/** The width of the bar in characters. */
const width = 30;

function bar(fraction: number): string {
  const full = '#'.repeat(Math.round(width * fraction)).padEnd(width, '.');
  return `[${full}] ${String(Math.floor(100 * fraction)).padStart(3)} %  `;
}

async function askTwice({ input, output }: Keyboard): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const questions = createInterface({ input, output: nowhere, terminal: true, historySize: 0 });
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
    const repeated = await ask('Repeat the password: ');
    if (password !== repeated) throw new Failure('The two passwords differ: nothing was done.');
    return password;
  } finally {
    questions.close();
  }
}

async function readOneLine(input: Readable): Promise<string> {
  const line = (await readAll(input)).replace(/\r?\n$/, '');
  if (line === '') throw new Failure('There is no password on standard input.');
  if (/[\r\n]/.test(line)) {
    throw new Failure(
      'There is more than one line on standard input: it must contain only the password.',
    );
  }
  return line;
}

/** The most bytes of standard input that are read; a password has at most 255 characters. */
const maxBytes = 4096;

async function readAll(input: Readable): Promise<string> {
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
}

import { createInterface } from 'node:readline';
import { type Readable, Writable } from 'node:stream';
import { Failure } from './failure.ts';

/** Whether the command was asked to stop, by Ctrl-C or a SIGTERM. */
export interface Interruption {
  readonly requested: boolean;
  /** Has signals end the process at once again. */
  release(): void;
}

const signals = ['SIGINT', 'SIGTERM'] as const;

/** Has signals no longer end the process, so that it can finish what it has begun. */
export const catchInterruption = (): Interruption => {
  let requested = false;
  // However often: npm passes on the Ctrl-C that the terminal has sent already.
  const note = () => {
    requested = true;
  };
  for (const signal of signals) process.on(signal, note);
  return {
    get requested() {
      return requested;
    },
    release: () => {
      for (const signal of signals) process.off(signal, note);
    },
  };
};

/** Where progress is drawn: standard error, or what stands for it. */
export interface Screen {
  readonly isTTY?: boolean | undefined;
  write(text: string): unknown;
}

export interface Progress {
  /** @param fraction from 0 to 1; undefined where the end is not known */
  show(fraction: number | undefined, note: string): void;
  /** Writes a line of its own, above the bar. */
  line(text: string): void;
  end(): void;
}

/** Characters of the bar. */
const width = 30;

/** Milliseconds between two drawings. */
const interval = 100;

const clear = '\r\u001b[K';

const bar = (fraction: number): string => {
  const full = '#'.repeat(Math.round(width * fraction)).padEnd(width, '.');
  return `[${full}] ${String(Math.floor(100 * fraction)).padStart(3)} %  `;
};

/** Shows how far a command has come, on a terminal only. */
export const startProgress = (screen: Screen, clock: () => number = Date.now): Progress => {
  let drawnAt = Number.NEGATIVE_INFINITY;
  const wipe = () => {
    if (screen.isTTY) screen.write(clear);
  };
  return {
    show: (fraction, note) => {
      if (!screen.isTTY || clock() - drawnAt < interval) return;
      drawnAt = clock();
      screen.write(`${clear}${fraction === undefined ? '' : bar(fraction)}${note}`);
    },
    line: (text) => {
      wipe();
      screen.write(`${text}\n`);
    },
    end: wipe,
  };
};

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

import { PassThrough, Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { readNewPassword, startProgress } from '../../../infra/operator/terminal.ts';

/** A terminal at which somebody types once a question has been shown. */
const terminal = (...typed: readonly string[]) => {
  const input = Object.assign(new PassThrough(), { isTTY: true });
  const keys = [...typed];
  let shown = '';
  const output = {
    write: (text: string) => {
      shown += text;
      if (text.endsWith(': ')) input.write(keys.shift() ?? '');
    },
  };
  return { keyboard: { input, output }, shown: () => shown };
};

describe('The prompt for a password', () => {
  it('asks twice and shows nothing of what is typed', async () => {
    const { keyboard, shown } = terminal('correct horse\r', 'correct horse\r');

    const password = await readNewPassword(keyboard);

    expect(password).toBe('correct horse');
    expect(shown()).toBe('Password (not shown): \nRepeat the password: \n');
  });

  it('handles Backspace', async () => {
    const { keyboard } = terminal('corrr\u007fect\r', 'correct\r');

    expect(await readNewPassword(keyboard)).toBe('correct');
  });

  it('accepts both passwords in one paste', async () => {
    const { keyboard } = terminal('correct\rcorrect\r');

    expect(await readNewPassword(keyboard)).toBe('correct');
  });

  it('does not offer the first password as history', async () => {
    const arrowUp = '\u001b[A';
    const { keyboard } = terminal('correct\r', `${arrowUp}\r`);

    await expect(readNewPassword(keyboard)).rejects.toThrow(
      'The two passwords differ: nothing was done.',
    );
  });

  it.each([
    ['Ctrl-C', '\u0003'],
    ['Ctrl-D', '\u0004'],
  ])('ends at %s', async (_, key) => {
    const { keyboard } = terminal(`half${key === '\u0004' ? '\u0015' : ''}${key}`);

    await expect(readNewPassword(keyboard)).rejects.toThrow('No password was given');
  });
});

describe('A password on standard input', () => {
  const read = (...chunks: readonly (string | Buffer)[]) =>
    readNewPassword({
      input: Readable.from(chunks.map((chunk) => Buffer.from(chunk))),
      output: process.stderr,
    });

  it.each([
    ['alone', ['correct horse']],
    ['with a line end', ['correct horse\n']],
    ['with a line end of Windows', ['correct horse\r\n']],
    ['in pieces', ['corr', 'ect horse', '\n']],
  ])('is read %s', async (_, chunks) => {
    expect(await read(...chunks)).toBe('correct horse');
  });

  it.each([
    ['if it is empty', '', 'There is no password on standard input.'],
    ['if it is an empty line', '\n', 'There is no password on standard input.'],
    ['if it has two lines', 'one\ntwo\n', 'There is more than one line'],
    ['if it is far too long', 'x'.repeat(100_000), 'Standard input is too long for a password.'],
    ['if its bytes are not text', Buffer.from([0xff]), 'is not valid UTF-8'],
  ])('is refused %s', async (_, input, message) => {
    await expect(read(input)).rejects.toThrow(message);
  });
});

const clear = '\r\u001b[K';

const screen = (isTTY: boolean) => {
  const written: string[] = [];
  return { isTTY, write: (text: string) => written.push(text), written };
};

describe('Progress', () => {
  it('is a bar on a terminal, drawn ten times a second at most', () => {
    const terminal = screen(true);
    let now = 0;
    const progress = startProgress(terminal, () => now);

    for (now = 0; now < 250; now += 50) progress.show(now / 200, `${now} users`);
    progress.end();

    expect(terminal.written).toEqual([
      `${clear}[${'.'.repeat(30)}]   0 %  0 users`,
      `${clear}[${'#'.repeat(15)}${'.'.repeat(15)}]  50 %  100 users`,
      `${clear}[${'#'.repeat(30)}] 100 %  200 users`,
      clear,
    ]);
  });

  it('is cleared before a line is printed, and works with an unknown total', () => {
    const terminal = screen(true);
    const progress = startProgress(terminal);

    progress.show(undefined, '7 users');
    progress.line('Line 3: is bad.');

    expect(terminal.written.join('')).toBe(`${clear}7 users${clear}Line 3: is bad.\n`);
  });

  it('is not drawn if standard error is not a terminal, but lines are printed', () => {
    const pipe = screen(false);
    const progress = startProgress(pipe);

    progress.show(0.5, '7 users');
    progress.line('Line 3: is bad.');
    progress.end();

    expect(pipe.written).toEqual(['Line 3: is bad.\n']);
  });
});

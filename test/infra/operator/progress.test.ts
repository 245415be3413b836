import { describe, expect, it } from 'vitest';
import { startProgress } from '../../../infra/operator/terminal.ts';

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

  it('gives way to lines, and needs no end to be known', () => {
    const terminal = screen(true);
    const progress = startProgress(terminal);

    progress.show(undefined, '7 users');
    progress.line('Line 3: is bad.');

    expect(terminal.written.join('')).toBe(`${clear}7 users${clear}Line 3: is bad.\n`);
  });

  it('is not drawn where nobody looks, unlike lines', () => {
    const pipe = screen(false);
    const progress = startProgress(pipe);

    progress.show(0.5, '7 users');
    progress.line('Line 3: is bad.');
    progress.end();

    expect(pipe.written).toEqual(['Line 3: is bad.\n']);
  });
});

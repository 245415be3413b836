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

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

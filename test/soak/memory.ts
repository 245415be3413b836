import { readFileSync } from 'node:fs';

/** Megabytes of a process that are in memory; undefined where the system does not say. */
const residentMegabytes = (pid: number): number | undefined => {
  try {
    const [, kilobytes] =
      /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return Number(kilobytes) / 1024;
  } catch {
    return undefined;
  }
};

export interface MemoryWatch {
  /** The median of the samples between two shares of the time watched so far. */
  between(from: number, to: number): number | undefined;
  stop(): void;
}

/** Milliseconds between samples. */
const interval = 500;

export const watchMemory = (pid: number): MemoryWatch => {
  const samples: number[] = [];
  const timer = setInterval(() => {
    const megabytes = residentMegabytes(pid);
    if (megabytes !== undefined) samples.push(megabytes);
  }, interval);
  const between = (from: number, to: number) => {
    const part = samples.slice(Math.floor(samples.length * from), Math.ceil(samples.length * to));
    return part.sort((a, b) => a - b)[Math.floor(part.length / 2)];
  };
  return { between, stop: () => clearInterval(timer) };
};

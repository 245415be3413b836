import { readFileSync } from 'node:fs';

const read = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
};

/** Megabytes of a process that are in memory; undefined where the system does not say. */
const residentMegabytes = (pid: number | string): number | undefined => {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(read(`/proc/${pid}/status`)) ?? [];
  return kilobytes === undefined ? undefined : Number(kilobytes) / 1024;
};

/** Processes that another one has started and whose command has a text. */
const startedBy = (pid: number, text: string): readonly string[] =>
  (read(`/proc/${pid}/task/${pid}/children`).match(/\d+/g) ?? []).filter((child) =>
    read(`/proc/${child}/cmdline`).includes(text),
  );

export interface MemoryWatch {
  /** The median of the samples between two shares of the time watched so far. */
  between(from: number, to: number): number | undefined;
  /** The most that a run of the sealer took, which is a process that the watched one starts. */
  ofSealer(): number;
  stop(): void;
}

/** Milliseconds between samples. */
const interval = 500;

export const watchMemory = (pid: number): MemoryWatch => {
  const samples: number[] = [];
  let ofSealer = 0;
  const timer = setInterval(() => {
    const megabytes = residentMegabytes(pid);
    if (megabytes !== undefined) samples.push(megabytes);
    for (const sealer of startedBy(pid, 'infra/local/seal.ts')) {
      ofSealer = Math.max(ofSealer, residentMegabytes(sealer) ?? 0);
    }
  }, interval);
  const between = (from: number, to: number) => {
    const part = samples.slice(Math.floor(samples.length * from), Math.ceil(samples.length * to));
    return part.sort((a, b) => a - b)[Math.floor(part.length / 2)];
  };
  return { between, ofSealer: () => ofSealer, stop: () => clearInterval(timer) };
};

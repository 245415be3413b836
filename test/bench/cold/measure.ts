import { type ColdStart, coldStart } from './cold-start.ts';
import type { Subject } from './subjects.ts';

/** Medians, milliseconds. */
export interface Result {
  readonly name: string;
  readonly bytes: number;
  readonly import: number;
  readonly firstCall: number;
  /** Of the processor, for both. */
  readonly processor: number;
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

const startWorking = async ({ name, file, event, environment }: Subject): Promise<ColdStart> => {
  const start = await coldStart(file, event, environment);
  const status = start.answer.statusCode ?? 500;
  if (status >= 500) throw new Error(`${name} answered ${status}`);
  return start;
};

/** Measures subjects in turn, so that what else the machine does meets all of them alike. */
export const measure = async (subjects: readonly Subject[], runs: number): Promise<Result[]> => {
  // Not counted: it brings the files into memory and fills the compile cache.
  for (const subject of subjects) await startWorking(subject);
  const measured = subjects.map((subject) => ({ subject, starts: [] as ColdStart[] }));
  for (let run = 0; run < runs; run += 1) {
    for (const { subject, starts } of measured) starts.push(await startWorking(subject));
  }
  return measured.map(({ subject: { name, bytes }, starts }) => ({
    name,
    bytes,
    import: median(starts.map((start) => start.import)),
    firstCall: median(starts.map(({ firstCall }) => firstCall)),
    processor: median(starts.map(({ processor }) => processor)),
  }));
};

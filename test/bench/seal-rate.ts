/**
 * `npm run bench -- seal-rate`: measures the runs of the sealer on a trail that grows steadily, and tells which rate of
 * entries they carry. It writes 150,000 entries of 75 minutes, or another number (`npm run bench -- seal-rate 300000`),
 * to dynoxide, in memory; seals them every five minutes, each run in a process of its own; and checks them in three
 * parts. It computes the costs of the parts of two days from that, because they grow in proportion to the entries, and
 * fails if memory or temporary files exceed the limits.
 */
import type { Check } from '../../lib/seal/header.ts';
import { type Measured, prepare, start } from './seal/prepare.ts';

const size = Number(process.argv[2] ?? 150_000);

/** The most megabytes of a process, and of the temporary files of a whole part. */
const allowed = { resident: 256, temporary: 256 };

/** The seconds from run to run, and the minutes at which a run looks: its own and the thirty before. */
const [interval, looked] = [300, 35];

/** The lines of a part by default, of which a run checks at most two: of the newest two days, and of older files. */
const lines = 1_000_000;

const minutes = 75;
const [runs, perRun] = [(minutes * 60) / interval, (size * 5) / minutes];
const timeOf = (run: number) => start + run * interval * 1000 + 60_000;

const { write, measure, stop } = await prepare((minutes * 60_000) / size);

/** Prints what a run took. @param entries the number by which its costs are divided */
const show = (name: string, entries: number, { elapsed, own, resident, temporary }: Measured) => {
  const columns = [elapsed / 1e6, own / 1e6, elapsed / entries, own / entries, resident, temporary];
  console.log([name.padEnd(14), ...columns.map((c) => c.toFixed(1).padStart(11))].join(' '));
  if (resident > allowed.resident) process.exitCode = 1;
};

await write(0, size);
console.log(
  'run              seconds, of its own   µs/entry, of its own resident MB  temporary MB',
);

let sealed: Measured | undefined;
for (let run = 1; run <= runs; run += 1) {
  sealed = await measure('run', timeOf(run), lines);
  if (run > looked / 5) show(`seal ${run}`, 7 * perRun, sealed);
}
// After a run that seals nothing, the next ones look at no entries before they check.
await measure('run', timeOf(runs + 8), lines);
const part = Math.ceil(size / 3);
let checked: Measured | undefined;
for (const run of [9, 10, 11]) {
  const mark = run === 9 ? ['a'] : [];
  checked = await measure('run', timeOf(runs + run), part, ...mark);
  const { entries, findings }: Check = checked.outcome.check;
  show(`check ${entries}`, part, checked);
  if (findings > 0) process.exitCode = 1;
}
await stop();

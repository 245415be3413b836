/**
 * `npm run bench -- seal-rate`: measures the runs of the sealer on a trail that grows steadily, and computes from them what
 * the runs take at greater rates. It writes 30,000 entries of 75 minutes, or another number (`npm run bench -- seal-rate
 * 150000`), to dynoxide, in memory; seals them every five minutes, each run in a process of its own; and then checks them
 * in three parts. The costs grow in proportion to the entries that a run looks at and to the lines that it checks. The
 * bench fails if a part has findings, or if memory or temporary files exceed their limits.
 */
import type { Check } from '../../lib/seal/header.ts';
import { type Measured, prepare, start } from './seal/prepare.ts';
import { median } from './statistics.ts';

const size = Number(process.argv[2] ?? 30_000);

/** The most megabytes of a process, and of the temporary files of a part of a million lines. */
const allowed = { resident: 256, temporary: 100 };

/** The minutes from run to run, and of the entries that a run looks at: its own, and those of the six runs before. */
const [interval, looked] = [5, 35];

/** The lines that a run checks: of the newest two days, and of older files. */
const lines = 1_000_000;

const minutes = 75;
const [runs, perRun] = [minutes / interval, (size * interval) / minutes];
const timeOf = (run: number) => start + (run * interval + 1) * 60_000;

const { write, measure, stop } = await prepare((minutes * 60_000) / size);

/** Prints what a run took. @param entries the number by which its costs are divided */
const show = (name: string, entries: number, taken: Measured): Measured => {
  const { elapsed, own, resident, temporary } = taken;
  const columns = [elapsed / 1e6, own / 1e6, elapsed / entries, own / entries, resident, temporary];
  console.log([name.padEnd(14), ...columns.map((c) => c.toFixed(1).padStart(11))].join(' '));
  if (resident > allowed.resident) process.exitCode = 1;
  return taken;
};

console.log(
  'what               seconds, of its own   µs/entry, of its own resident MB temporary MB',
);
const sealed: Measured[] = [];
for (let run = 1; run <= runs; run += 1) {
  await write((run - 1) * perRun, run * perRun);
  const taken = await measure('run', timeOf(run), lines);
  if (run * interval > looked) sealed.push(show('seal', (perRun * looked) / interval, taken));
}
// After a run that seals nothing, the next ones look at no entries before they check.
await measure('run', timeOf(runs + 8), lines);
const idle = show('nothing', 1, await measure('run', timeOf(runs + 9), lines));
const part = size / 3;
const checked: Measured[] = [];
for (const run of [10, 11, 12]) {
  const mark = run === 10 ? ['a'] : [];
  const taken = await measure('run', timeOf(runs + run), part, ...mark);
  const { findings }: Check = taken.outcome.check;
  if (findings > 0) process.exitCode = 1;
  checked.push(show('check', part, taken));
}

/** The seconds of an entry, without what each process takes to start. */
const costOf = (all: readonly Measured[], cost: 'elapsed' | 'own', entries: number) =>
  (median(all.map((each) => each[cost])) - idle[cost]) / entries / 1e6;
console.log(
  '\nentries a minute   seconds, of its own  runs to check two days, of 288 a day  older days checked in 30',
);
for (const rate of [5000, 10_000, 20_000, 30_000, 60_000]) {
  const seconds = (['elapsed', 'own'] as const).map(
    (cost) =>
      costOf(sealed, cost, (perRun * looked) / interval) * rate * looked +
      costOf(checked, cost, part) * 2 * lines,
  );
  const day = rate * 24 * 60;
  const inRuns = Math.ceil((2 * day) / lines);
  // A day's check has a thirtieth of the older files, and as many as a day adds.
  const older = Math.floor(((288 * lines) / day - 1) * 30);
  const columns = [...seconds.map((s) => s.toFixed(0).padStart(9)), inRuns, older];
  console.log([String(rate).padEnd(16), ...columns.map((c) => String(c).padStart(10))].join(' '));
}
const [first] = checked;
const temporary = ((first?.temporary ?? 0) * lines) / part;
console.log(`\nA part of a million lines takes ${temporary.toFixed(0)} MB of temporary files.`);
if (temporary > allowed.temporary) process.exitCode = 1;
await stop();

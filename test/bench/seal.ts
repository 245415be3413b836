/**
 * `npm run bench -- seal`: measures the first sealing of a table of 300,000 entries, and a verification after it: time,
 * memory and temporary files. It runs on dynoxide, in memory, and takes minutes, most of them to write the entries.
 * `npm run bench -- seal 1000000` measures another size. It fails if memory or files exceed their limits, which are the
 * same for each size.
 */
import { prepare, start } from './seal/prepare.ts';

const size = Number(process.argv[2] ?? 300_000);

/** The most megabytes of a process, and of the sealer's temporary files. */
const allowed = { resident: 256, temporary: 50 };

/** The number of entries in a file, which is the default. */
const fileSize = 100_000;

const second = 1000;
const { write, measure, stop } = await prepare(second);
await write(0, size);
console.log('what        µs/entry, of its own    live MB resident MB  temporary MB');
for (const action of ['seal', 'verify'] as const) {
  const taken = await measure(action, start + size * second + 120_000, fileSize);
  const { findings = [], entries = size } = taken.outcome;
  const { elapsed, own, live, resident, temporary } = taken;
  const columns = [elapsed / size, own / size, live, resident, temporary];
  console.log([action.padEnd(8), ...columns.map((c) => c.toFixed(1).padStart(11))].join(' '));
  const isWithin = resident <= allowed.resident && temporary <= allowed.temporary;
  if (findings.length > 0 || entries !== size || !isWithin) process.exitCode = 1;
}
await stop();

/** Run in a process of its own: loads a bundle as Lambda's runtime does and invokes it once. */
import { createRequire } from 'node:module';

const [file = '', event = '{}'] = process.argv.slice(2);
const load = createRequire(file);

const before = process.cpuUsage();
const start = performance.now();
const { handler } = load(file);
const loaded = performance.now();
const context = { getRemainingTimeInMillis: () => 900_000 };
const answer = await handler(JSON.parse(event), context);
const answered = performance.now();
const { user, system } = process.cpuUsage(before);

// The parts of itself that Node has loaded: an undocumented property, which only tests need.
const { moduleLoadList } = process as unknown as { moduleLoadList: readonly string[] };
const result = {
  import: loaded - start,
  firstCall: answered - loaded,
  processor: (user + system) / 1000,
  answer,
  moduleLoadList,
};
process.stdout.write(JSON.stringify(result), () => process.exit());

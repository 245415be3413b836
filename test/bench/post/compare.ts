import { median, row } from '../statistics.ts';

const [pairs, atOnce] = [5, 4];

/** Microseconds of a call: until it ends, and of processor time, which other processes affect less. */
type Cost = readonly [elapsed: number, processor: number];

export const header = row(['', 'elapsed', 'other', 'ratio', 'processor', 'other', 'ratio']);

/**
 * Compares two calls in pairs whose sides alternate, and prints a row.
 * @returns the medians of the elapsed times, and of the ratios of elapsed and of processor time
 */
export async function compare(
  name: string,
  sides: readonly [() => Promise<unknown>, () => Promise<unknown>],
  calls: number,
) {
  const costs: [Cost[], Cost[]] = [[], []];
  // The first pair only warms up.
  for (let pair = -1; pair < pairs; pair += 1) {
    for (const side of pair % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
      const cost = await costOf(sides[side], calls);
      if (pair >= 0) costs[side].push(cost);
    }
  }
  const [first, second] = costs;
  const medians = ([0, 1] as const).map((kind) => [
    median(first.map((cost) => cost[kind])),
    median(second.map((cost) => cost[kind])),
    median(first.map((cost, pair) => cost[kind] / Number(second[pair]?.[kind]))),
  ]);
  console.log(row([name, ...medians.flat()]));
  const [[one = 0, other = 0, ratio = 0] = [], [, , ofProcessor = 0] = []] = medians;
  return { times: [one, other], ratio, ofProcessor };
}

async function costOf(call: () => Promise<unknown>, calls: number): Promise<Cost> {
  const each = Math.ceil(calls / atOnce);
  const before = process.cpuUsage();
  const begun = performance.now();
  const work = async () => {
    for (let i = 0; i < each; i += 1) await call();
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  const elapsed = (performance.now() - begun) * 1000;
  const { user, system } = process.cpuUsage(before);
  return [elapsed / (each * atOnce), (user + system) / (each * atOnce)];
}

import type { APIGatewayProxyEventV2 } from 'aws-lambda';

/** A request, and the least that it could do, which is measured in turn with it. */
export interface Pair {
  readonly name: string;
  readonly event: APIGatewayProxyEventV2;
  readonly request: (event: APIGatewayProxyEventV2) => Promise<unknown>;
  readonly bare: (event: APIGatewayProxyEventV2) => Promise<unknown>;
  readonly rounds: number;
  /** What the request may cost at most, as a multiple of the bare call. */
  readonly target?: number;
}

/** Microseconds: until the answer, and of the processor, which other processes change less. */
interface Cost {
  readonly elapsed: number;
  readonly processor: number;
}

/** Medians of each side, and of how many times the bare call a request cost in the same round. */
export interface Costs {
  readonly request: Cost;
  readonly bare: Cost;
  readonly ratio: Cost;
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

const medians = (costs: readonly Cost[]): Cost => ({
  elapsed: median(costs.map(({ elapsed }) => elapsed)),
  processor: median(costs.map(({ processor }) => processor)),
});

const costOf = async (call: () => Promise<unknown>): Promise<Cost> => {
  const before = process.cpuUsage();
  const begun = performance.now();
  await call();
  const elapsed = (performance.now() - begun) * 1000;
  const { user, system } = process.cpuUsage(before);
  return { elapsed, processor: user + system };
};

/** Rounds that only warm up, as a share of those that count. */
const warmUp = 0.2;

/**
 * Calls both sides in turn, each of them first in every other round, and compares them round by
 * round, so that what else the machine does meets both alike.
 */
export const measure = async ({ event, request, bare, rounds }: Pair): Promise<Costs> => {
  const costs = { request: [] as Cost[], bare: [] as Cost[] };
  const sides = [
    { call: request, kept: costs.request },
    { call: bare, kept: costs.bare },
  ];
  for (let round = -Math.ceil(rounds * warmUp); round < rounds; round += 1) {
    for (const { call, kept } of round % 2 === 0 ? sides : sides.toReversed()) {
      // A function changes the event that it is given.
      const given = structuredClone(event);
      const cost = await costOf(() => call(given));
      if (round >= 0) kept.push(cost);
    }
  }
  const ratios = costs.request.map(({ elapsed, processor }, round) => ({
    elapsed: elapsed / (costs.bare[round]?.elapsed ?? Number.NaN),
    processor: processor / (costs.bare[round]?.processor ?? Number.NaN),
  }));
  return { request: medians(costs.request), bare: medians(costs.bare), ratio: medians(ratios) };
};

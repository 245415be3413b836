/** Descriptions and a comparison of samples. */

export interface Summary {
  readonly p5: number;
  readonly p25: number;
  readonly p50: number;
  readonly p75: number;
  readonly p95: number;
  readonly mean: number;
}

const quantile = (sorted: readonly number[], share: number): number => {
  const at = (sorted.length - 1) * share;
  const [below = 0, above = 0] = [sorted[Math.floor(at)], sorted[Math.ceil(at)]];
  return below + (above - below) * (at - Math.floor(at));
};

export const summarise = (sample: readonly number[]): Summary => {
  const sorted = sample.toSorted((a, b) => a - b);
  const [p5, p25, p50, p75, p95] = [0.05, 0.25, 0.5, 0.75, 0.95].map((q) => quantile(sorted, q));
  const mean = sample.reduce((sum, value) => sum + value, 0) / sample.length;
  return { p5, p25, p50, p75, p95, mean } as Summary;
};

/** The mean of the ranks that equal values share; `last` is their last index, from 0. */
const sharedRank = (first: number, last: number) => (first + last) / 2 + 1;

const rankSum = (one: readonly number[], other: readonly number[]): number => {
  const all = [
    ...one.map((value) => ({ value, mine: true })),
    ...other.map((value) => ({ value, mine: false })),
  ].sort((a, b) => a.value - b.value);
  let sum = 0;
  for (let first = 0; first < all.length; ) {
    let last = first;
    while (all[last + 1]?.value === all[first]?.value) last += 1;
    const mine = all.slice(first, last + 1).filter((entry) => entry.mine).length;
    sum += mine * sharedRank(first, last);
    first = last + 1;
  }
  return sum;
};

/** The upper tail of the normal distribution (Abramowitz and Stegun 26.2.17, error under 1e-7). */
const normalTail = (z: number): number => {
  const t = 1 / (1 + 0.231_641_9 * z);
  const coefficients = [0.319_381_53, -0.356_563_782, 1.781_477_937, -1.821_255_978, 1.330_274_429];
  const polynomial = coefficients.reduce((sum, c, i) => sum + c * t ** (i + 1), 0);
  return (Math.exp(-(z * z) / 2) / Math.sqrt(2 * Math.PI)) * polynomial;
};

/**
 * The Mann-Whitney U test, two-sided, by its normal approximation.
 * @returns `auc`: how often a value of the one sample is greater than one of the other; 0.5 when
 *   nothing can be told from the values
 */
export const mannWhitney = (
  one: readonly number[],
  other: readonly number[],
): { u: number; z: number; p: number; auc: number } => {
  const [n, m] = [one.length, other.length];
  const u = rankSum(one, other) - (n * (n + 1)) / 2;
  const z = (u - (n * m) / 2) / Math.sqrt((n * m * (n + m + 1)) / 12);
  return { u, z, p: Math.min(1, 2 * normalTail(Math.abs(z))), auc: u / (n * m) };
};

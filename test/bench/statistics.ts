/** Descriptions and a comparison of samples. */

/** The least value that a share of a sample does not exceed. */
export const quantile = (sample: readonly number[], share: number): number => {
  const sorted = sample.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
};

export const median = (sample: readonly number[]): number => quantile(sample, 0.5);

/**
 * The Mann-Whitney U test.
 * @returns `auc`: how often a value of the one sample is greater than one of the other, which is 0.5
 *   if nothing can be told from the values; `z`: its distance from 0.5 in standard deviations, which
 *   chance alone makes greater than 2.6 once in a hundred times
 */
export const mannWhitney = (
  one: readonly number[],
  other: readonly number[],
): { auc: number; z: number } => {
  const [n, m] = [one.length, other.length];
  let u = 0;
  for (const a of one) for (const b of other) u += a > b ? 1 : a === b ? 0.5 : 0;
  return { auc: u / (n * m), z: (u - (n * m) / 2) / Math.sqrt((n * m * (n + m + 1)) / 12) };
};

/** A line of a table, the first column of which is text. */
export const row = ([name = '', ...cells]: readonly (string | number)[]): string =>
  String(name).padEnd(42) +
  cells
    .map((cell) => (typeof cell === 'number' ? cell.toFixed(cell < 10 ? 2 : 1) : cell))
    .map((cell) => cell.padStart(12))
    .join('');

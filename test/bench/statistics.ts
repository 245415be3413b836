/** The median of a sample; of an even number of values, the upper of the two in the middle. */
export function median(sample: readonly number[]): number {
  const sorted = sample.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** A line of a table, the first column of which is text. */
export function row([name = '', ...cells]: readonly (string | number)[]): string {
  return (
    String(name).padEnd(42) +
    cells
      .map((cell) => (typeof cell === 'number' ? cell.toFixed(cell < 10 ? 2 : 1) : cell))
      .map((cell) => cell.padStart(12))
      .join('')
  );
}

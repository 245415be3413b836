import type { Result } from './measure.ts';
import { comparison } from './subjects.ts';

const row = (cells: readonly (string | number)[]): string =>
  cells
    .map((cell) => (typeof cell === 'number' ? cell.toFixed(1) : cell))
    .map((cell, column) => (column === 0 ? cell.padEnd(40) : cell.padStart(12)))
    .join('');

/** One line for each subject. */
export const printTable = (results: readonly Result[]): void => {
  console.log(row(['', 'KB', 'import', 'first call', 'together', 'processor']));
  for (const { name, bytes, import: load, firstCall, processor } of results) {
    console.log(row([name, bytes / 1000, load, firstCall, load + firstCall, processor]));
  }
  console.log('\nThe defaults are those of NodejsFunction with the SDK bundled (bundleAwsSDK).');
  console.log('Where passwords are hashed, the first call includes one hash.\n');
};

const ratio = (label: string, measured: number, target?: number): void => {
  const judged = target === undefined ? '' : `target ${target.toFixed(2)}`;
  const verdict = target === undefined ? '' : measured <= target ? 'met' : 'MISSED';
  console.log(row([label, measured.toFixed(2), judged, verdict]));
};

/** The targets of the cold start, and by how much they are met. */
export const printRatios = (results: readonly Result[]): void => {
  const find = (wanted: string): Result => {
    const found = results.find(({ name }) => name === wanted);
    if (!found) throw new Error(`${wanted} was not measured`);
    return found;
  };
  const together = (name: string) => find(name).import + find(name).firstCall;
  const { import: load } = find('profile');
  ratio('import / bare client', load / find(comparison.bareClient).import, 0.55);
  ratio('import / Express', load / find(comparison.express).import, 0.42);
  ratio('together / defaults', together('profile') / together(comparison.profile), 0.6);
  const processor = find('profile').processor / find(comparison.profile).processor;
  ratio('processor time / defaults', processor);
  ratio("together / the runtime's SDK", together('profile') / together(comparison.profileExternal));
  ratio('together, warm cache / none', together(comparison.profileCached) / together('profile'));
};

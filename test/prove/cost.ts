/** The cost of a run, by the price table of infra/cost.md. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../rehearsal/workspace.ts';

/** Hours of a month. */
const month = 730;

/** The most hours that a run is to take, with the steps that take hours, and the most requests that it makes. */
const most = { hours: 12, requests: 40_000 };

/** US dollars of an hour: a stack for development, one for production, and one that takes its restored tables over. */
export const dollarsOfHour = (): number => {
  const [development = 0, production = 0] = row('Total for any number of users');
  return (development + 2 * production) / month;
};

/** US dollars of so many hours, and of the requests of a run at the highest price that one has. */
export const dollarsOf = (hours: number): number => {
  const [requests = 0] = row('Total for the requests');
  const [millions = 1] = row('Requests');
  return hours * dollarsOfHour() + (most.requests / 1e6) * (requests / millions);
};

/** The greatest cost of a run, in US dollars. */
export const greatestDollars = (): number => dollarsOf(most.hours);

export const inDollars = (dollars: number): string => `${dollars.toFixed(2)} dollars`;

/** The numbers in the row of a table whose first cell begins with a text. */
const row = (begin: string): readonly number[] => {
  const lines = readFileSync(join(root, 'infra/cost.md'), 'utf8').replaceAll('*', '').split('\n');
  const line = lines.find((one) => one.startsWith(`| ${begin}`)) ?? '';
  return line
    .split('|')
    .slice(2, -1)
    .map((cell) => Number.parseFloat(cell.replaceAll(',', '')));
};

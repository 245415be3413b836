/** The cost of a run, by the price table of infra/cost.md. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../rehearsal/workspace.ts';

/** The hours of a month. */
const month = 730;

/** The most hours that a run takes, including the steps that take hours, and the most requests that it makes. */
const most = { hours: 12, requests: 40_000 };

/** US dollars of an hour: a stack for development, a stack for production, and the stack that takes over its tables. */
export const dollarsOfHour = (): number => {
  const [development = 0, production = 0] = row('Total for any number of users');
  return (development + 2 * production) / month;
};

/** US dollars of some hours, and of the requests of a run at the highest price of a request. */
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

/** Requests that are made at once. */
import type { ApiAnswer } from '../support/client.ts';

/** Does work so many times at once. */
export const times = <T>(number: number, work: (i: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: number }, (_, i) => work(i)));

/** How many of the answers have a status. */
export const count = (answers: readonly ApiAnswer[], wanted: number): number =>
  answers.filter(({ status }) => status === wanted).length;

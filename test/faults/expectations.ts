import { expect } from 'vitest';
import { type ExampleRequest, exampleRequests, type Operation } from '../support/examples.ts';
import type { Column } from './experiment.ts';

const listed = (entry: string | undefined) => (entry ? [entry] : []);

/** The expected response to each example, and the audit entry that should be kept somewhere. */
export const expected = (
  fails: (operation: Operation) => boolean,
  requests: readonly ExampleRequest[] = exampleRequests,
) =>
  Object.fromEntries(
    requests.map((example) => {
      const { name, operations, status, message, readsFirst, storageFault = [] } = example;
      const [fault, field] = storageFault;
      const faultEntry = readsFirst && fails('read') ? undefined : example.faultEntry;
      return operations.some(fails)
        ? [name, { answer: `500 ${fault} (${field})`, kept: listed(faultEntry) }]
        : [
            name,
            { answer: message ? `${status} ${message}` : `${status}`, kept: listed(example.entry) },
          ];
    }),
  );

export const observed = (outcomes: Column | undefined) =>
  Object.fromEntries(
    [...(outcomes ?? [])].map(([name, { answer, kept }]) => [name, { answer, kept }]),
  );

/** Milliseconds of the slowest answer. */
export const longest = (outcomes: Column | undefined) =>
  Math.max(...[...(outcomes ?? [])].map(([, { milliseconds }]) => milliseconds));

export const nothing = () => false;

export const expectNoSecret = (output: string) => {
  expect(output).not.toMatch(/\$2[aby]\$|\$bcrypt/);
  expect(output).not.toMatch(/pass-word|wrong-word|eyJ[\w-]+\./);
};

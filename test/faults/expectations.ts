import { expect } from 'vitest';
import { type Access, endpoints } from './endpoints.ts';
import type { Column } from './report.ts';

/** What each endpoint should answer, and which audit entry should be kept somewhere. */
export const expected = (fails: (access: Access) => boolean) =>
  Object.fromEntries(
    endpoints.map(({ name, does, status, fault, entry, recordsFaults }) => {
      const well = status === 401 ? '401 Invalid credentials' : String(status);
      const failed = recordsFaults ? [`${entry?.action} FAILURE`] : [];
      const done = entry ? [`${entry.action} ${entry.result}`] : [];
      return does.some(fails)
        ? [name, { answer: `500 ${fault?.[0]} (${fault?.[1]})`, kept: failed }]
        : [name, { answer: well, kept: done }];
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

/** Every endpoint has an answer in every column. */
export const expectFull = (columns: readonly Column[]) => {
  for (const column of columns) {
    expect([...column.keys()]).toEqual(endpoints.map(({ name }) => name));
    for (const { answer } of column.values()) expect(answer).toMatch(/^\d{3}/);
  }
};

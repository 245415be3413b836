import { mkdirSync, writeFileSync } from 'node:fs';
import { longest } from './expectations.ts';
import type { Column, Outcome } from './experiment.ts';

const cell = (outcome: Outcome | undefined): string =>
  outcome ? outcome.answer.replace(')', `: ${outcome.fault})`) : '';

const slowest = (column: Column | undefined): string => `${(longest(column) / 1000).toFixed(1)} s`;

const table = (title: string, columns: ReadonlyMap<string, Column>): string => {
  const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const names = [...columns.keys()];
  const endpoints = new Set([...columns.values()].flatMap((column) => [...column.keys()]));
  return [
    `## ${title}`,
    '',
    row(['endpoint', ...names]),
    row(['---', ...names.map(() => '---')]),
    ...[...endpoints].map((name) =>
      row([name, ...names.map((column) => cell(columns.get(column)?.get(name)))]),
    ),
    row(['slowest answer', ...names.map((column) => slowest(columns.get(column)))]),
    '',
  ].join('\n');
};

/** Writes what every endpoint answered under every fault, as Markdown. */
export const writeReport = (
  file: string,
  engine: string,
  sections: ReadonlyMap<string, ReadonlyMap<string, Column>>,
): void => {
  mkdirSync('.reports', { recursive: true });
  const tables = [...sections].map(([title, columns]) => table(title, columns));
  writeFileSync(file, [`# Endpoint by fault, on ${engine}`, '', ...tables].join('\n'));
};

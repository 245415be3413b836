/** The report of a run, without account and addresses: prove.md for people, prove.json for machines. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Outcome } from '../rehearsal/proof.ts';
import { dollarsOf, inDollars } from './cost.ts';
import type { Run } from './run-file.ts';

export interface Reported {
  readonly run: Run;
  readonly where: Outcome['where'];
  /** The versions, by the name of the software. */
  readonly versions: Readonly<Record<string, string>>;
  /** The items that still exist, each with the reason; undefined before a removal. */
  readonly left: readonly string[] | undefined;
}

/** Writes both files. @returns the path of the file for people */
export const writeReport = (folder: string, reported: Reported): string => {
  const { run, where, versions, left } = reported;
  const { commit, region, begun, hours, outcomes, removed } = run;
  const cost = Math.ceil(100 * dollarsOf(hours)) / 100;
  const data = { where, commit, versions, region, begun, hours, cost, outcomes, removed, left };
  const write = (name: string, text: string): string => {
    const file = join(folder, name);
    writeFileSync(file, masked(text, run));
    return file;
  };
  write('prove.json', `${JSON.stringify(data, null, 2)}\n`);
  return write('prove.md', textOf(reported, cost));
};

/** Leaves out the account, and addresses of machines and people. */
export const masked = (text: string, { account }: Pick<Run, 'account'>): string =>
  text
    .replaceAll(account, '(account)')
    .replaceAll(/https?:\/\/[^\s"'`|)\\]+/g, '(address)')
    .replaceAll(/[\w.-]+\.(?:amazonaws\.com|execute-api\.[\w.-]+)/g, '(address)')
    .replaceAll(/[\w.+-]+@[\w-]+\.[\w.-]+/g, '(address)')
    .replaceAll(/\b\d{1,3}(?:\.\d{1,3}){3}\b/g, '(address)');

const textOf = ({ run, where, versions, left }: Reported, cost: number): string => {
  const { commit, region, begun, hours, outcomes, removed } = run;
  const at = where === 'AWS' ? 'in AWS' : 'at the emulator, which proves nothing in AWS';
  const others = outcomes.filter(({ outcome }) => outcome !== 'proved');
  return [
    `# Proof of ${versions.service} ${at}`,
    '',
    `- Commit: ${commit}`,
    `- Versions: ${list(Object.entries(versions).map(([name, version]) => `${name} ${version}`))}`,
    `- Region: ${region}; begun ${begun}; ${hours.toFixed(1)} hours`,
    `- Cost by the price table of infra/cost.md: at most ${inDollars(cost)}`,
    `- Proved: ${outcomes.length - others.length} of ${outcomes.length} steps`,
    '',
    '| Step | Outcome | Seconds | Figures | Request id |',
    '| --- | --- | ---: | --- | --- |',
    ...outcomes.map(rowOf),
    '',
    '## Not proved, and why',
    '',
    ...(others.length > 0
      ? others.map(({ name, why }) => `- ${name}: ${cell(why)}`)
      : ['Nothing.']),
    '',
    '## Removed',
    '',
    left === undefined
      ? 'Nothing yet: the stacks are there.'
      : `${removed.length} resources. Keys wait seven days; the bootstrap of the CDK stays. Left: ${list(left)}.`,
    '',
  ].join('\n');
};

const list = (texts: readonly string[]): string => texts.map(cell).join(', ') || 'nothing';

const rowOf = ({ title, outcome, seconds, figures, requestId, requests }: Outcome): string => {
  const ids = requestId && `${requestId} and ${requests - 1} others`;
  return `| ${[title, outcome, seconds, figures, ids].map((one) => cell(String(one))).join(' | ')} |`;
};

/** The most characters of a cell; the complete text of a failure is in prove.json. */
const longest = 300;

const cell = (text: string): string => {
  const line = text.replaceAll(/\s+/g, ' ').replaceAll('|', '/');
  return line.length > longest ? `${line.slice(0, longest)}…` : line;
};

/** What the service has acknowledged, and what went wrong. */
import type { Answer } from './client.ts';

export interface Account {
  readonly id: number;
  readonly name: string;
  readonly email: string;
  readonly password: string;
  readonly role: string;
}

export interface Ledger {
  /** Those that exist, as last acknowledged, by id. */
  readonly accounts: Map<number, Account>;
  readonly deleted: Set<number>;
  /** How many audit entries there must be, by action, result and resource id. */
  readonly entries: Map<string, number>;
  readonly violations: string[];
}

export const makeLedger = (): Ledger => ({
  accounts: new Map(),
  deleted: new Set(),
  entries: new Map(),
  violations: [],
});

/** What an audit entry is counted under. */
export const entryKey = (action: string, result: string, id: number | string | null): string =>
  `${action} ${result} ${id ?? 'nobody'}`;

export const enterEntry = (
  { entries }: Ledger,
  action: string,
  id: number | null,
  result = 'SUCCESS',
): void => {
  const key = entryKey(action, result, id);
  entries.set(key, (entries.get(key) ?? 0) + 1);
};

/** Notes an answer that is not the expected one. @returns whether it was */
export const isExpected = (
  { violations }: Ledger,
  request: string,
  { status, body }: Answer,
  ...expected: readonly number[]
): boolean => {
  if (expected.includes(status)) return true;
  violations.push(`${request}: ${status} ${JSON.stringify(body)}, not ${expected.join(' or ')}`);
  return false;
};

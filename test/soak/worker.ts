/** One client among many. */
import { randomInt, randomUUID } from 'node:crypto';
import type { Client } from './client.ts';
import type { Account, Ledger } from './ledger.ts';

/** A client's own accounts: nobody else touches them, so that it knows what is in them. */
export interface Worker {
  readonly client: Client;
  readonly ledger: Ledger;
  readonly adminToken: string;
  readonly accounts: (Account & { readonly token: string })[];
  readonly memoryIds: number[];
}

/** Accounts, and users of the in-memory variant, that a client keeps at most. */
export const maxAccounts = 20;
export const maxMemoryUsers = 5;

export const pick = <T>(items: readonly T[]): T | undefined =>
  items[randomInt(Math.max(1, items.length))];
export const newEmail = () => `${randomUUID()}@Example.org`;
export const newFields = () => ({
  ...{ name: `Name ${randomInt(1000)}`, email: newEmail(), password: randomUUID() },
});

/** Notes what an account is from now on. */
export const replace = (worker: Worker, account: Worker['accounts'][number]) => {
  const at = worker.accounts.findIndex(({ id }) => id === account.id);
  worker.accounts.splice(at, at < 0 ? 0 : 1, account);
  worker.ledger.accounts.set(account.id, account);
};

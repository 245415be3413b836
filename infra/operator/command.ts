import * as v from 'valibot';
import { instant } from '../../lib/contract/parameters.ts';
import type { StoredUser } from '../../lib/users/item.ts';
import { findUserByEmail } from '../../lib/users/store.ts';
import type { Operator } from './audit.ts';
import { Failure, UsageError } from './failure.ts';
import type { Target } from './target.ts';

export interface Invocation {
  readonly operator: Operator;
  readonly operands: readonly string[];
  /** The values of the given options, by names such as `usersTable`. */
  readonly options: Readonly<Record<string, string | boolean | readonly string[]>>;
  readonly target: Target;
}

/** Runs a command. @throws {Failure} */
export type Run = (invocation: Invocation) => Promise<void>;

export interface Command {
  readonly summary: string;
  /** The names of its arguments, which are all required. */
  readonly operands?: readonly string[];
  /**
   * The description of each option, by its flags in the form of commander, such as `--ids <file>`, or `--scope <scope...>`
   * for an option that may be repeated.
   */
  readonly options?: Readonly<Record<string, string>>;
  /** Paragraphs. Their lines are wrapped to fit the terminal, unless they are indented. */
  readonly help: string;
  /** Command lines without `npm run operator --`. */
  readonly examples?: readonly string[];
  /** Its exit statuses, if the status of a failure is not 1. */
  readonly status?: { readonly failure: number; readonly help: string };
  readonly run: Run;
}

/** A range of time. Its times are in the form of `created_at`. */
export interface TimeRange {
  /** Inclusive; absent: from the beginning. */
  readonly since?: string;
  /** Exclusive; absent: to the end. */
  readonly until?: string;
}

export function parseTime(name: string, value: unknown): string | undefined {
  if (value === undefined) return undefined;
  const parsed = v.safeParse(instant, value);
  if (parsed.success) return parsed.output;
  throw new UsageError(
    `--${name} must be a date such as 2026-11-22, or a time such as 2026-11-22T12:00:00Z.`,
  );
}

export function parseTimeRange(options: Invocation['options']): TimeRange {
  const [since, until] = [parseTime('since', options.since), parseTime('until', options.until)];
  if (since && until && since >= until) throw new UsageError('--since must be before --until.');
  return { ...(since ? { since } : {}), ...(until ? { until } : {}) };
}

/** @throws {Failure} when no user has the email address */
export async function requireUser(email: string): Promise<StoredUser> {
  const user = await findUserByEmail(email);
  if (!user) throw new Failure('There is no user with this email address: check its spelling.');
  return user;
}

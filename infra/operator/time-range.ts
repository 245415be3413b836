import * as v from 'valibot';
import { instant } from '../../lib/contract/parameters.ts';
import type { Invocation } from './command.ts';
import { UsageError } from './failure.ts';

/** Times as `created_at` is written. */
export interface TimeRange {
  /** Inclusive; absent: from the beginning. */
  readonly since?: string;
  /** Exclusive; absent: to the end. */
  readonly until?: string;
}

const parseTime = (name: string, value: unknown): string | undefined => {
  if (value === undefined) return undefined;
  const parsed = v.safeParse(instant, value);
  if (parsed.success) return parsed.output;
  throw new UsageError(
    `--${name} must be a date such as 2026-11-22, or a time such as 2026-11-22T12:00:00Z.`,
  );
};

/** The options `since` and `until` of a command. @throws {UsageError} */
export const parseTimeRange = (options: Invocation['options']): TimeRange => {
  const [since, until] = [parseTime('since', options.since), parseTime('until', options.until)];
  if (since && until && since >= until) throw new UsageError('--since must be before --until.');
  return { ...(since ? { since } : {}), ...(until ? { until } : {}) };
};

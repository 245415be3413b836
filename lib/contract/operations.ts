/** The operations of all routes, `METHOD /path`. */
import type { ServiceValues } from '../settings.ts';
import * as accountDeletions from './account-deletions.ts';
import * as accounts from './accounts.ts';
import * as auditLogs from './audit-logs.ts';
import * as auditSeal from './audit-seal.ts';
import * as console from './console.ts';
import * as docs from './docs.ts';
import * as emailVerifications from './email-verifications.ts';
import type { Describe, Operation, Operations } from './operation.ts';
import * as passwordResets from './password-resets.ts';
import * as secondFactor from './second-factor.ts';
import * as sessions from './sessions.ts';
import * as users from './users.ts';
import * as v1 from './v1-users.ts';

export const operations = {
  ...accounts.operations,
  ...accountDeletions.operations,
  ...passwordResets.operations,
  ...emailVerifications.operations,
  ...sessions.operations,
  ...secondFactor.operations,
  ...users.operations,
  ...auditLogs.operations,
  ...auditSeal.operations,
  ...v1.operations,
  ...docs.operations,
  ...console.operations,
} as const satisfies Operations;

/** An operation that the settings make available, with its description. */
export interface OperationInForce {
  /** `METHOD /path` */
  readonly route: string;
  readonly operation: Operation;
  readonly describe: Describe;
}

/** The operations that are available under some settings. */
export const operationsInForce = (settings: ServiceValues): readonly OperationInForce[] =>
  Object.entries<Operations[string]>(operations)
    .map(([route, [operation, describe]]) => ({ route, operation, describe }))
    .filter(({ describe }) => describe(settings).exists ?? true);

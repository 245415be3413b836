/** What the alarms watch and the dashboard shows, of what the logs say. */
import type { Stack } from 'aws-cdk-lib';
import { Metric } from 'aws-cdk-lib/aws-cloudwatch';
import {
  FilterPattern,
  type IFilterPattern,
  type LogGroup,
  MetricFilter,
} from 'aws-cdk-lib/aws-logs';
import { entryNotWritten } from '../../../lib/audit/unwritten.ts';
import { noticeNotHandedOver } from '../../../lib/mail/unsent.ts';
import { routeKey } from '../../routes.ts';
import type { ServiceFunction } from '../function.ts';
import { period } from './metrics.ts';

export interface LogMetrics {
  /** That succeeded or were refused. */
  readonly logins: Metric;
  readonly failedLogins: Metric;
  readonly adminsMade: Metric;
  readonly unwrittenAuditEntries: Metric;
  readonly brokenAuditTrails: Metric;
  /** Of changes, which could not be handed to the function that mails. */
  readonly lostNotices: Metric;
}

const anyOf = (field: string, values: readonly string[]) =>
  FilterPattern.any(...values.map((value) => FilterPattern.stringValue(field, '=', value)));

const isLogin = ({ definition }: ServiceFunction) => definition.name === 'login';
const writesAudit = ({ definition }: ServiceFunction) =>
  definition.permissions.some(
    ({ table, actions }) => table === 'audit' && actions.includes('dynamodb:PutItem'),
  );

/**
 * Wrong password, unknown email, too many attempts. A 400 is a malformed request, not an attempt:
 * it costs nothing, and whoever guesses passwords could send as many as make the refusals few.
 */
const refusals = ['401', '404', '429'];
const outcomes = ['200', ...refusals];

/**
 * The events that lib/audit/record.ts and lib/auth/notice.ts log. A plain search: Lambda puts a prefix before the JSON
 * of a line, which a JSON pattern would not match.
 */
const unwrittenAuditEntry = FilterPattern.allTerms(entryNotWritten);
const lostNotice = FilterPattern.allTerms(noticeNotHandedOver);

/** The event that lib/users/admins.ts logs. */
const adminMade = FilterPattern.allTerms('admin-made');

/** The event that lib/audit/seal/round.ts logs. */
const brokenAuditTrail = FilterPattern.allTerms('audit-trail-broken');

/** Makes metrics of lines in the access log and in the logs of functions. */
export const createLogMetrics = (
  stack: Stack,
  {
    functions,
    sealer,
    accessLogs,
  }: {
    functions: readonly ServiceFunction[];
    sealer: ServiceFunction | undefined;
    accessLogs: LogGroup;
  },
): LogMetrics => {
  const namespace = stack.stackName;
  const count = (id: string, metricName: string, logGroup: LogGroup, pattern: IFilterPattern) => {
    const props = { logGroup, filterPattern: pattern, metricNamespace: namespace, metricName };
    new MetricFilter(stack, id, props);
  };
  const metric = (metricName: string) =>
    new Metric({ namespace, metricName, statistic: 'Sum', period });

  const login = anyOf(
    '$.routeKey',
    functions.filter(isLogin).flatMap(({ definition }) => definition.routes.map(routeKey)),
  );
  const loginsWith = (statuses: readonly string[]) =>
    FilterPattern.all(login, anyOf('$.status', statuses));
  count('LoginFilter', 'Logins', accessLogs, loginsWith(outcomes));
  count('FailedLoginFilter', 'FailedLogins', accessLogs, loginsWith(refusals));
  for (const { node, logGroup } of functions.filter(writesAudit)) {
    count(`${node.id}AuditFilter`, 'UnwrittenAuditEntries', logGroup, unwrittenAuditEntry);
  }
  for (const { node, logGroup } of functions.filter(({ definition }) => definition.makesAdmins)) {
    count(`${node.id}AdminFilter`, 'AdminsMade', logGroup, adminMade);
  }
  if (sealer) count('AuditTrailFilter', 'BrokenAuditTrails', sealer.logGroup, brokenAuditTrail);
  for (const { node, logGroup, definition } of functions) {
    if (!definition.handsOverMails || !functions.some(({ unsent }) => unsent)) continue;
    count(`${node.id}NoticeFilter`, 'LostNotices', logGroup, lostNotice);
  }
  return {
    logins: metric('Logins'),
    failedLogins: metric('FailedLogins'),
    adminsMade: metric('AdminsMade'),
    unwrittenAuditEntries: metric('UnwrittenAuditEntries'),
    brokenAuditTrails: metric('BrokenAuditTrails'),
    lostNotices: metric('LostNotices'),
  };
};

import type { AuditEntry } from '../../../client/paths.ts';
import { counted } from '../format.ts';
import { href } from '../router.ts';
import { detailsOf } from '../trail/happened.ts';
import { isLogin } from '../trail/overview.ts';

interface WaitsProps {
  readonly entries: readonly AuditEntry[];
  readonly period?: string;
}

/** Says beside sources with failed logins what the service does against them, with the counts of these entries. */
export const Waits = ({ entries, period = 'these entries' }: WaitsProps) => {
  const failures = entries.filter((entry) => isLogin(entry, 'FAILURE'));
  const sources = new Set(failures.map(({ ip_address: ip }) => ip)).size;
  const waits = failures.filter((entry) => detailsOf(entry).waits_until !== undefined).length;
  if (failures.length === 0) return null;
  return (
    <p class="muted">
      After too many failed logins in 15 minutes an account or a source must wait, longer each time;
      loginFailuresPerAccount and loginFailuresPerAddress in{' '}
      <a href={href('/settings')}>Settings</a> are the limits. In {period}{' '}
      {counted(failures.length, 'failed login')} came from {counted(sources, 'source')}, and{' '}
      {counted(waits, 'wait')} began. Logins that are refused during a wait leave no entry. The
      console cannot block a source; a firewall in front of the service (such as AWS WAF) can.
    </p>
  );
};

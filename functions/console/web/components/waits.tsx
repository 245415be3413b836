import type { AuditEntry } from '../../../client/paths.ts';
import { counted } from '../format.ts';
import { href } from '../router.ts';
import { detailsOf } from '../trail/happened.ts';
import { isLogin } from '../trail/overview.ts';

/** Says beside sources with failed logins that nobody has to block a source, with the counts of these entries. */
export const Waits = ({ entries }: { readonly entries: readonly AuditEntry[] }) => {
  const failures = entries.filter((entry) => isLogin(entry, 'FAILURE'));
  const sources = new Set(failures.map(({ ip_address: ip }) => ip)).size;
  const waits = failures.filter((entry) => detailsOf(entry).waits_until !== undefined).length;
  if (failures.length === 0) return null;
  return (
    <p class="muted">
      Sources are not blocked by hand. After many failures a source, like an account, must wait,
      longer each time: {counted(failures.length, 'failed login')} from {counted(sources, 'source')}{' '}
      began {counted(waits, 'wait')}. A login during a wait is refused and leaves no entry. The
      limits are <a href={href('/settings')}>settings</a>. A firewall in front of the service, such
      as AWS WAF, can block sources.
    </p>
  );
};

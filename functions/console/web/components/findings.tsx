import { useEffect, useRef } from 'preact/hooks';
import { mark } from '../../mark.ts';
import { api, send, settings } from '../api.ts';
import type { AuditEntry } from '../contract.d.ts';
import { type Finding, isOfEntry, lastCheck, placeOf, sayings } from '../findings.ts';
import { counted } from '../format.ts';
import { href } from '../router.ts';
import { signedIn } from '../session.ts';
import { Badge, Time } from './text.tsx';

/** Milliseconds from one look at the seal to the next, while the page is seen. */
const pause = 300_000;

/** A dot on the icon of the tab. */
const dot = "<circle cx='12' cy='4' r='4' fill='%23d22'/>";

const useLooks = (isOn: boolean): void => {
  const newest = useRef(0);
  useEffect(() => {
    if (!isOn) return undefined;
    const look = async () => {
      if (document.hidden || signedIn.get().isOver) return;
      newest.current += 1;
      const own = newest.current;
      const seal = await send(api.GET('/api/admin/audit-seal'));
      if (own === newest.current) lastCheck.set(seal.check ?? undefined);
    };
    // The screen of the seal says why it cannot be read.
    const lookQuietly = () => void look().catch(() => undefined);
    lookQuietly();
    const timer = setInterval(lookQuietly, pause);
    return () => {
      newest.current += 1;
      clearInterval(timer);
      lastCheck.set(undefined);
    };
  }, [isOn]);
};

/** How many findings stand. */
const useCount = (): number => lastCheck.use()?.findings ?? 0;

/** Says on every screen that findings stand, and shows a dot on the tab of the browser. */
export const FindingsBanner = () => {
  useLooks(settings.sealed);
  const count = useCount();
  useEffect(() => {
    const link = document.querySelector<HTMLLinkElement>('link[rel=icon]');
    if (link) link.href = mark(count ? dot : '');
  }, [count]);
  if (!count) return null;
  return (
    <p class="notice bad" role="alert">
      <a href={href('/seal')}>{counted(count, 'finding')}</a>: the audit trail, or the archive of
      its seal, is not as it was sealed.
    </p>
  );
};

/** A dot beside the link to the seal. */
export const FindingsDot = () => {
  const count = useCount();
  if (!count) return null;
  return (
    <>
      {' '}
      <span class="dot" />
      <span class="unseen">{counted(count, 'finding')}</span>
    </>
  );
};

/** Where to go for a finding: an entry is in the trail, and of files `verify-audit` says more. */
export const FindingLink = ({ finding, children }: { finding: Finding; children: string }) =>
  isOfEntry(finding) ? (
    <a href={href('/audit', placeOf(finding))}>{children}</a>
  ) : (
    <a href={href('/seal')} onClick={() => document.getElementById('verify')?.focus()}>
      {children}
    </a>
  );

/** The findings that are named, newest first. */
export const FindingsList = ({ named }: { named: readonly Finding[] }) => (
  <ul>
    {named.map((finding) => (
      <li key={finding.kind + finding.subject} class="row">
        <Badge kind="bad">{sayings[finding.kind] ?? finding.kind}</Badge>
        <FindingLink finding={finding}>
          {isOfEntry(finding) ? `Entry ${finding.subject}` : finding.subject}
        </FindingLink>
        <span class="muted">
          found <Time at={finding.at} />
        </span>
      </li>
    ))}
  </ul>
);

/** Marks an entry that a finding names. */
export const FindingMark = ({ id }: Pick<AuditEntry, 'id'>) => {
  const finding = lastCheck.use()?.named.find(({ subject }) => subject === String(id));
  return finding ? <Badge kind="bad">{sayings[finding.kind] ?? finding.kind}</Badge> : null;
};

/** The findings of the checks of the seal, wherever screens show them. */
import { useEffect } from 'preact/hooks';
import type { AuditEntry, AuditSealSummary, SealFinding } from '../../../client/paths.ts';
import { api, send, settings } from '../api.ts';
import { counted, duration } from '../format.ts';
import { useEvery, useLoad } from '../loading.ts';
import { href, type Query } from '../router.ts';
import { signedIn } from '../session.ts';
import { createStore } from '../store.ts';
import { Badge, Time } from './text.tsx';

/** The seal, as it was loaded last. */
export const lastSeal = createStore<AuditSealSummary | undefined>(undefined);

/** The words for an entry or a file, by the kind of a finding. */
const sayings: Readonly<Record<string, string>> = {
  changed: 'Tampered with',
  deleted: 'Deleted',
  inserted: 'Added',
  altered: 'Tampered with',
  foreign: 'Not a file',
  missing: 'Missing',
  unsigned: 'Not signed',
};

/** Whether a finding is about an entry, whose id it names. */
const isOfEntry = ({ subject }: SealFinding): boolean => /^\d+$/.test(subject);

/**
 * The time from which ids count, in milliseconds since 1970, and the number of ids in one millisecond
 * (functions/README.md).
 */
const [idEpoch, idsPerMillisecond] = [Date.UTC(2026, 0, 1), 4096];

/** Milliseconds that are shown before and after a finding; more for an entry that no longer exists. */
const around = { deleted: 60_000, others: 1000 };

/** The query of the trail that opens the entry of a finding, where it is or was, by the time in its id. */
const placeOf = ({ kind, subject }: SealFinding): Query => {
  const time = idEpoch + Math.floor(Number(subject) / idsPerMillisecond);
  const margin = kind === 'deleted' ? around.deleted : around.others;
  const [since, until] = [time - margin, time + margin + 1].map((at) => new Date(at).toISOString());
  return { since, until, entry: subject };
};

/** Milliseconds between two requests for the seal, while the page is visible. */
const pause = 300_000;

/** Loads the seal, and keeps it for the whole page. */
export const useSeal = () => {
  const seal = useLoad('seal', () => send(api.GET('/api/admin/audit-seal')));
  const { data } = seal;
  useEffect(() => {
    if (data) lastSeal.set(data);
  }, [data]);
  return seal;
};

/** Keeps the seal up to date. Only the screen of the seal says why it cannot be read. */
const Watch = () => {
  const { reload } = useSeal();
  useEvery(pause, () => void (document.hidden || signedIn.get().isOver || reload()));
  useEffect(() => () => lastSeal.set(undefined), []);
  return null;
};

/** The finding of the last check about an entry. */
export const useFinding = (id: number): SealFinding | undefined =>
  lastSeal.use()?.check?.named.find(({ subject }) => subject === String(id));

const useCount = (): number => lastSeal.use()?.check?.findings ?? 0;

/** Shows on every screen that there are findings. */
export const FindingsBanner = () => {
  const count = useCount();
  return (
    <>
      {settings.sealed && <Watch />}
      {count > 0 && (
        <p class="notice bad" role="alert">
          <a href={href('/seal')}>{counted(count, 'finding')}</a>: the audit trail, or the archive
          of its seal, is not as it was sealed.
        </p>
      )}
    </>
  );
};

/** A red dot in the navigation while there are findings. */
export const FindingsDot = () => {
  const count = useCount();
  return count > 0 ? (
    <>
      {' '}
      <span class="dot" />
      <span class="unseen">{counted(count, 'finding')}</span>
    </>
  ) : null;
};

/** Shows findings first, and does not call the seal good if the last check is old. */
export const SealState = ({ newest, behind, check }: AuditSealSummary) => {
  const [finding] = check?.named ?? [];
  const isSealed = newest && behind === null && !finding;
  return (
    <>
      {finding && check && <Badge kind="bad">{counted(check.findings, 'finding')}</Badge>}
      {behind !== null && <Badge kind="bad">{`Behind by ${duration(behind)}`}</Badge>}
      {isSealed && <Badge {...(check?.recent && { kind: 'good' })}>Sealed</Badge>}
      {isSealed && !check?.recent && <span class="muted">Not checked lately.</span>}
      {!newest && <Badge>Not sealed yet</Badge>}
    </>
  );
};

/** The next step for a finding: an entry can be seen in the trail, and `verify-audit` says more about files. */
export const FindingLink = ({ finding, children }: { finding: SealFinding; children: string }) =>
  isOfEntry(finding) ? (
    <a href={href('/audit', placeOf(finding))}>{children}</a>
  ) : (
    <a href={href('/seal')} onClick={() => document.getElementById('verify')?.focus()}>
      {children}
    </a>
  );

export const FindingsList = ({ named }: { named: readonly SealFinding[] }) => (
  <ul>
    {named.map((finding) => (
      <li key={finding.kind + finding.subject} class="row">
        <FindingBadge {...finding} />
        <FindingLink finding={finding}>
          {isOfEntry(finding) ? `Entry ${finding.subject}` : finding.subject}
        </FindingLink>
        <span class="muted">
          last found <Time at={finding.at} />
        </span>
      </li>
    ))}
  </ul>
);

export const FindingMark = ({ id }: Pick<AuditEntry, 'id'>) => {
  const finding = useFinding(id);
  return finding ? <FindingBadge {...finding} /> : null;
};

const FindingBadge = ({ kind }: SealFinding) => <Badge kind="bad">{sayings[kind] ?? kind}</Badge>;

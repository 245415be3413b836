import { api, send } from '../api.ts';
import { now } from '../clock.ts';
import { Loaded } from '../components/notice.tsx';
import { Card, Screen } from '../components/screen.tsx';
import { Badge, CopyButton, Time } from '../components/text.tsx';
import type { AuditSealSummary } from '../contract.d.ts';
import { counted, duration } from '../format.ts';
import { useLoad } from '../loading.ts';

/** Milliseconds for which findings are shown in red, even if later checks have none. */
const alarmTime = 30 * 86_400_000;

const State = ({ newest, behind }: AuditSealSummary) => {
  if (behind !== null) return <Badge kind="bad">{`Behind by ${duration(behind)}`}</Badge>;
  return newest ? <Badge kind="good">Sealed</Badge> : <Badge>Not sealed yet</Badge>;
};

interface CheckProps {
  readonly check: NonNullable<AuditSealSummary['check']>;
  readonly isRed: boolean;
}

const Check = ({ check: { at, findings, found }, isRed }: CheckProps) => (
  <>
    <Badge kind={isRed ? 'bad' : 'good'}>
      {findings ? counted(findings, 'finding') : isRed ? 'Findings' : 'No findings'}
    </Badge>
    <p class="muted">
      At <Time at={at} />
      {findings ? '' : ', without findings'}.
    </p>
    {found && (
      <p class="muted">
        A check had findings last at <Time at={found} />: the log of the service names some of them,{' '}
        <code>verify-audit</code> all.
      </p>
    )}
  </>
);

const Facts = (seal: AuditSealSummary) => {
  const { key, newest, interval, check } = seal;
  const isRed = check?.found != null && now() - Date.parse(check.found) < alarmTime;
  return (
    <dl class={`card ${isRed ? 'broken' : ''}`}>
      <dt>State</dt>
      <dd>
        <State {...seal} />
      </dd>
      <dt>Newest file</dt>
      <dd>
        {newest ? `Number ${newest.number}` : 'none yet'}
        <p class="muted">
          {newest && (
            <>
              {counted(newest.count, 'entry', 'entries')}, sealed <Time at={newest.at} />.{' '}
            </>
          )}
          A file is written every {counted(interval, 'second')}.
        </p>
      </dd>
      <dt>Last check by the sealer</dt>
      <dd>{check ? <Check check={check} isRed={isRed} /> : 'not yet'}</dd>
      <dt>Fingerprint of the key</dt>
      <dd>
        <code>{key}</code> <CopyButton text={key} label="Copy the fingerprint" />
      </dd>
    </dl>
  );
};

const Days = ({ table, lock, archive }: AuditSealSummary['days']) => (
  <Card title="How long entries are kept">
    <dl>
      <dt>In the table</dt>
      <dd>
        {table ? counted(table, 'day') : 'For ever'}
        <p class="muted">
          {table
            ? 'After that no query finds an entry, and no screen of this console. The archive still has it.'
            : 'Queries find every entry.'}
        </p>
      </dd>
      <dt>Locked</dt>
      <dd>
        {lock ? counted(lock, 'day') : 'Not locked'}
        <p class="muted">
          {lock
            ? 'Until then nobody can delete what is sealed. After that whoever has the permission can.'
            : 'Whoever has the permission can delete what is sealed; verify-audit finds that out.'}
        </p>
      </dd>
      <dt>In the archive</dt>
      <dd>
        {archive ? counted(archive, 'day') : 'For ever'}
        <p class="muted">
          {archive
            ? 'After that what is sealed leaves the archive, and is gone for good.'
            : 'What is sealed never leaves the archive.'}
        </p>
      </dd>
    </dl>
  </Card>
);

const Elsewhere = () => (
  <Card title="Verify it from elsewhere">
    <p>
      This page shows what the service says of itself, and whoever controls the service could make
      it say anything. Run <code>verify-audit</code> every day on a machine, and best in an account,
      that the people who run the service cannot reach, with the public key that you keep there. It
      prints the fingerprint, which must be the one above.
    </p>
    <p>
      <code>npm run --silent operator -- verify-audit --public-key FILE --stack NAME</code>
    </p>
  </Card>
);

/** The seal of the audit trail. */
export const Seal = () => {
  const seal = useLoad('seal', () => send(api.GET('/api/admin/audit-seal')));
  return (
    <Screen title="Seal">
      {seal.failure?.code === 'AUDIT_NOT_SEALED' ? (
        <p class="empty">
          This service keeps its data in memory alone, and so does not seal its audit trail.
        </p>
      ) : (
        <Loaded what="The seal" from={seal}>
          {(data) => (
            <>
              <Facts {...data} />
              <Days {...data.days} />
              <Elsewhere />
            </>
          )}
        </Loaded>
      )}
    </Screen>
  );
};

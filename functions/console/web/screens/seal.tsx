import { useState } from 'preact/hooks';
import { api, send } from '../api.ts';
import { Busy, FailureNotice, Notice } from '../components/notice.tsx';
import { Screen } from '../components/screen.tsx';
import { Badge, CopyButton, Time } from '../components/text.tsx';
import { Verification } from '../components/verification.tsx';
import type { AuditSealSummary } from '../contract.d.ts';
import { counted, duration, localTime } from '../format.ts';
import { useLoad } from '../loading.ts';
import { type Memory, recall, remember } from '../trail/memory.ts';

const State = ({ newest, behind }: Pick<AuditSealSummary, 'newest' | 'behind'>) => {
  if (behind !== null) return <Badge kind="bad">{`Behind by ${duration(behind)}`}</Badge>;
  return newest ? <Badge kind="good">Sealed</Badge> : <Badge>Not sealed yet</Badge>;
};

const Checked = ({ verified }: Pick<AuditSealSummary, 'verified'>) => {
  if (!verified) return <>nothing yet</>;
  const { from, until, at, faults } = verified;
  return (
    <>
      <Badge kind={faults ? 'bad' : 'good'}>
        {faults ? counted(faults, 'finding') : 'No findings'}
      </Badge>
      <p class="hint">
        At <Time at={at} />, the windows from {startOf(from)} until <Time at={until} />.
      </p>
    </>
  );
};

/** The first window begins before all entries. */
const startOf = (from: string) => (from < '1970' ? 'the beginning' : <Time at={from} />);

const Facts = ({ seal }: { seal: AuditSealSummary }) => (
  <dl class="card facts">
    <dt>State</dt>
    <dd>
      <State {...seal} />
    </dd>
    <dt>Sealed until</dt>
    <dd>
      {seal.newest ? <Time at={seal.newest.until} /> : 'no time yet'}
      <p class="hint">A window is sealed every {counted(seal.interval, 'second')}.</p>
    </dd>
    <dt>Last check by the sealer</dt>
    <dd>
      <Checked {...seal} />
    </dd>
    <dt>Fingerprint of the key</dt>
    <dd>
      <code>{seal.key}</code> <CopyButton text={seal.key} label="Copy the fingerprint" />
    </dd>
  </dl>
);

/** Says whether the key is the one that this browser knows. */
const KeyNotice = ({ known, accept }: { known: Memory; accept: () => void }) => (
  <Notice kind="failure">
    <p>
      <strong>The key of the seal has changed.</strong> From {localTime(known.since)} on it was{' '}
      <code>{known.key}</code>. Unless somebody changed it on purpose, the trail may have been
      replaced. Ask who runs the service, and compare the fingerprint with the copy that you keep
      elsewhere.
    </p>
    <button type="button" onClick={accept}>
      It was changed on purpose: remember the new key
    </button>
  </Notice>
);

const Sealed = ({ seal }: { seal: AuditSealSummary }) => {
  const { key } = seal;
  const now = () => new Date().toISOString();
  const [isFirst] = useState(() => !recall());
  const [known, setKnown] = useState(() => recall() ?? remember({ key, since: now() }));
  const isKnown = known.key === key;
  return (
    <>
      {!isKnown && (
        <KeyNotice known={known} accept={() => setKnown(remember({ key, since: now() }))} />
      )}
      <Facts seal={seal} />
      {isKnown && (
        <p class="muted">
          {isFirst ? (
            'This browser sees the key for the first time, and remembers it from now on.'
          ) : (
            <>
              This browser has known the key since <Time at={known.since} />.
            </>
          )}
        </p>
      )}
      <Verification
        fingerprint={key}
        seen={isKnown ? known.seen : undefined}
        onVerified={(seen) => isKnown && setKnown(remember({ ...known, seen }))}
      />
    </>
  );
};

/** The seal of the audit trail. */
export const Seal = () => {
  const { data, failure, isBusy, reload } = useLoad('seal', () =>
    send(api.GET('/api/admin/audit-seal')),
  );
  if (failure?.code === 'AUDIT_NOT_SEALED') {
    return (
      <Screen title="Seal">
        <p class="empty">
          This service keeps its data in memory alone, and so does not seal its audit trail.
        </p>
      </Screen>
    );
  }
  return (
    <Screen title="Seal">
      <FailureNotice what="The seal could not be loaded" failure={failure} retry={reload} />
      {!data && isBusy && <Busy label="Loading the seal…" />}
      {data && <Sealed seal={data} />}
    </Screen>
  );
};

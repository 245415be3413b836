import { useState } from 'preact/hooks';
import type { AuditSealSummary, SealCheck } from '../../../client/paths.ts';
import { api, send, settings } from '../api.ts';
import { Button } from '../components/button.tsx';
import { FindingsList, SealState, useSeal } from '../components/findings.tsx';
import { FailureNotice, Loaded, tell } from '../components/notice.tsx';
import { Card, Screen } from '../components/screen.tsx';
import { Ago, CopyButton, Time } from '../components/text.tsx';
import { clockTime, counted, grouped } from '../format.ts';
import { useAction, useEvery } from '../loading.ts';
import { now } from '../service.ts';
import { isAdmin } from '../session.ts';

const Check = ({ at, next, entries, total, findings, named, found }: SealCheck) => {
  const more = findings - named.length;
  return (
    <>
      <p>
        {grouped(entries)} checked of {counted(total, 'entry', 'entries')}, <Ago at={at} />;{' '}
        {Date.parse(next) > now() ? (
          <>
            next <Time at={next} write={clockTime} />
          </>
        ) : (
          'next in the next run'
        )}
      </p>
      <p class="muted">Of the newest two days. What is older is checked within 30 days.</p>
      {findings > 0 && <FindingsList named={named} />}
      {more > 0 && (
        <p class="muted">
          And {counted(more, 'more finding')}: <code>verify-audit</code> names all.
        </p>
      )}
      {findings === 0 && (
        <p class="muted">
          {found ? (
            <>
              A check had findings last at <Time at={found} />.
            </>
          ) : (
            'No check had findings.'
          )}
        </p>
      )}
    </>
  );
};

/** Milliseconds between two requests for the outcome of a requested check. */
const pause = 10_000;

/** A button that requests a check. @param done is called after that */
const Ask = ({ title, whole, done }: { title: string; whole: boolean; done: () => unknown }) => {
  const request = useAction(async () => {
    tell('');
    await send(api.POST('/api/admin/audit-seal/checks', whole ? { body: { whole } } : {}));
    await done();
    tell(`A ${whole ? 'whole ' : ''}check is requested.`);
  });
  return (
    <>
      <FailureNotice what="No check was requested" failure={request.failure} />
      <Button onClick={() => request.run()} aria-busy={request.isBusy}>
        {title}
      </Button>
    </>
  );
};

/** Requests a check, and looks for its outcome. @param reload loads the seal again */
const CheckNow = ({ seal, reload }: { seal: AuditSealSummary; reload: () => void }) => {
  const at = seal.check?.at ?? '';
  const [before, setBefore] = useState<string>();
  const isPending = before === at;
  useEvery(pause, reload, isPending);
  return (
    <div class="row">
      <Ask title="Check now" whole={false} done={() => setBefore(at)} />
      {isPending && (
        <span class="muted" role="status">
          The next run checks, within {counted(seal.interval, 'second')}.
        </span>
      )}
    </div>
  );
};

type Whole = NonNullable<AuditSealSummary['whole']>;

const day = 24 * 60 * 60_000;

/** When a whole check ends if it goes on as fast as so far, but not before the next run. */
const endOf = ({ asked_at, checked, of }: Whole, interval: number): string => {
  const elapsed = now() - Date.parse(asked_at);
  const left = (elapsed * ((of ?? 0) - checked)) / checked;
  return new Date(now() + Math.max(left, interval * 1000)).toISOString();
};

const End = ({ whole, interval }: { whole: Whole; interval: number }) => {
  if (whole.checked === 0) return <>after the first part this page says when it ends</>;
  const at = endOf(whole, interval);
  return (
    <>
      ends about{' '}
      {Date.parse(at) - now() < day ? <Time at={at} write={clockTime} /> : <Time at={at} />}
    </>
  );
};

interface WholeProps {
  readonly whole: Whole;
  readonly seal: AuditSealSummary;
}

const WholeProgress = ({ whole, seal: { check, interval } }: WholeProps) => {
  const { asked_at, checked, of, ended_at } = whole;
  const findings = check?.findings ?? 0;
  const ended = ended_at && <Ago at={ended_at} />;
  if (ended && checked === of) {
    return (
      <p>
        {grouped(checked)} of {counted(of, 'file')} checked, {ended}.{' '}
        {findings ? `The ${counted(findings, 'finding')} of all checks: above.` : 'No findings.'}
      </p>
    );
  }
  if (ended) {
    return (
      <p>
        Ended early, {ended}, after {grouped(checked)} of {counted(of ?? 0, 'file')}: ten runs in a
        row could not check the next ones. <code>verify-audit</code> checks all.
      </p>
    );
  }
  if (of === null) {
    return (
      <p role="status">
        Requested <Ago at={asked_at} />; the next run begins it, within{' '}
        {counted(interval, 'second')}.
      </p>
    );
  }
  return (
    <>
      <p>
        {grouped(checked)} of {counted(of, 'file')}; <End whole={whole} interval={interval} />.
      </p>
      <progress aria-label="Files checked" value={checked} max={of} />
    </>
  );
};

/** Requests a check of every file, and shows how far it is. @param reload loads the seal again */
const WholeCheck = ({ seal, reload }: { seal: AuditSealSummary; reload: () => void }) => {
  const { whole } = seal;
  const isOpen = whole !== null && whole.ended_at === null;
  const next = whole === null ? 0 : Date.parse(whole.asked_at) + day;
  useEvery(pause, reload, isOpen);
  const mayAsk = settings.auditSeal === 'on' && isAdmin() && !isOpen;
  return (
    <>
      {whole ? <WholeProgress whole={whole} seal={seal} /> : <p>Never requested.</p>}
      <p class="muted">Of every file, in parts beside the other checks.</p>
      {mayAsk && next <= now() && (
        <div class="row">
          <Ask title="Check everything" whole done={reload} />
        </div>
      )}
      {mayAsk && next > now() && (
        <p class="muted">
          Another one can be requested after <Time at={new Date(next).toISOString()} />.
        </p>
      )}
    </>
  );
};

const Facts = ({ seal, reload }: { seal: AuditSealSummary; reload: () => void }) => {
  const { key, newest, interval, check } = seal;
  return (
    <dl class="card">
      <dt>State</dt>
      <dd>
        <p class="row">
          <SealState {...seal} />
        </p>
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
      <dd class="stack">
        {check ? <Check {...check} /> : 'not yet'}
        {settings.auditSeal === 'on' && <CheckNow seal={seal} reload={reload} />}
      </dd>
      <dt>Last whole check</dt>
      <dd class="stack">
        <WholeCheck seal={seal} reload={reload} />
      </dd>
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

export const Seal = () => {
  const seal = useSeal();
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
              <Facts seal={data} reload={seal.reload} />
              <Days {...data.days} />
              <div id="verify" tabIndex={-1}>
                <Elsewhere />
              </div>
            </>
          )}
        </Loaded>
      )}
    </Screen>
  );
};

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { AuditEntry, AuditSealSummary } from '../../../client/paths.ts';
import { settings } from '../api.ts';
import { Cut } from '../components/cut.tsx';
import { Entries } from '../components/entries.tsx';
import { Extent } from '../components/extent.tsx';
import { showTrail } from '../components/filters.tsx';
import { lastSeal, SealState } from '../components/findings.tsx';
import { GroupTable } from '../components/groups.tsx';
import { Histogram } from '../components/histogram.tsx';
import { Loaded } from '../components/notice.tsx';
import { Card, Screen } from '../components/screen.tsx';
import { Waits } from '../components/waits.tsx';
import { ago, grouped } from '../format.ts';
import { href } from '../router.ts';
import { now } from '../service.ts';
import { groupsOf } from '../trail/groups.ts';
import type { Span } from '../trail/histogram.ts';
import { changesRights, isLogin, isRegistration, usersSince } from '../trail/overview.ts';
import { presets, readState, secondsBefore, type TrailState } from '../trail/query.ts';
import { spanRead, useWhole } from '../trail/whole.ts';
import { WeakAdmins } from './on-demand.tsx';

/** Entries that machines have posted are counted nowhere here. */
const own: Partial<TrailState> = settings.machines ? { from: 'service' } : {};

const queries = {
  registrations: { ...own, action: 'CREATE', result: 'SUCCESS', only: 'registrations' },
  logins: { ...own, action: 'LOGIN', result: 'SUCCESS' },
  failures: { ...own, action: 'LOGIN', result: 'FAILURE' },
} as const;

interface CountsProps {
  readonly entries: readonly AuditEntry[];
  readonly since: string;
  /** When the screen was opened, in milliseconds since 1970. */
  readonly time: number;
  /** The time range of the entries that were read. */
  readonly span: Span;
  /** Whether there are entries that are not read. */
  readonly isPart: boolean;
}

interface CountProps extends Pick<CountsProps, 'isPart'> {
  readonly count: number;
  /** The rest of the sentence that begins with the number. */
  readonly of: string;
  readonly query: Partial<TrailState>;
}

const Count = ({ count, of, query, isPart }: CountProps) => (
  <a class="number" href={href('/audit', query)}>
    <strong>
      {grouped(count)}
      {isPart && '…'}
    </strong>{' '}
    {of}
  </a>
);

interface ChartProps extends CountsProps {
  readonly title: string;
  readonly query: Partial<TrailState>;
  readonly children?: ComponentChildren;
}

const Chart = ({ title, entries, query, since, time, span, isPart, children }: ChartProps) => (
  <Card title={title}>
    <p class="numbers">
      <Count count={entries.length} of="in all" query={{ ...query, ...span }} isPart={isPart} />
      {children}
    </p>
    <Histogram
      entries={entries}
      bounds={{ from: Date.parse(since), until: time }}
      narrow={(own) => showTrail(readState({ ...query, ...own }))}
    />
  </Card>
);

interface FailedProps extends Pick<CountsProps, 'span'> {
  readonly by: 'ipAddress' | 'userId';
  readonly failures: readonly AuditEntry[];
}

const Failed = ({ by, failures, span }: FailedProps) => {
  const query = { ...queries.failures, ...span };
  return (
    <Cut rows={groupsOf(failures, by)} all={href('/audit', { ...query, group: by })}>
      {(groups) => (
        <GroupTable
          isShort
          what="Failed logins"
          by={by}
          groups={groups}
          narrow={(value) => showTrail(readState({ ...query, [by]: value }))}
        />
      )}
    </Cut>
  );
};

const Counts = (props: CountsProps) => {
  const { entries, since, time, span, isPart } = props;
  const failures = entries.filter((entry) => isLogin(entry, 'FAILURE'));
  const users = (of: string, from: string) => {
    const count = usersSince(entries, Date.parse(from));
    const reached = from > span.since ? from : span.since;
    const query = { ...queries.logins, ...span, since: reached, group: 'userId' } as const;
    const noun = count === 1 ? 'user' : 'users';
    return <Count count={count} of={`${noun}, ${of}`} query={query} isPart={isPart} />;
  };
  return (
    <>
      <div class="thirds">
        <Chart
          {...props}
          title="Registrations"
          entries={entries.filter(isRegistration)}
          query={queries.registrations}
        />
        <Chart
          {...props}
          title="Logins"
          entries={entries.filter((entry) => isLogin(entry, 'SUCCESS'))}
          query={queries.logins}
        >
          {users('last day', secondsBefore(time, presets['Last day']))}
          {users('last week', since)}
        </Chart>
        <Chart {...props} title="Failed logins" entries={failures} query={queries.failures} />
      </div>
      <div class="columns">
        <Card title="Most failed logins, by source">
          <Failed by="ipAddress" failures={failures} span={span} />
          <Waits entries={failures} {...(!isPart && { period: 'the last seven days' })} />
        </Card>
        <Card title="Most failed logins, by account">
          <Failed by="userId" failures={failures} span={span} />
        </Card>
      </div>
      <Card title="New admins, other changes of rights, suspensions">
        <Cut rows={entries.filter(changesRights)}>
          {(changes) => (
            <Entries
              pages={changes}
              caption="Changes of what users may do"
              empty="There were none."
            />
          )}
        </Cut>
      </Card>
    </>
  );
};

const Seal = () => {
  const seal = lastSeal.use();
  if (!settings.sealed) return <p>The trail is not sealed.</p>;
  return (
    <p class="row">
      {seal && <SealState {...seal} />}
      <span class={seal?.check?.findings ? 'bad' : ''}>
        {seal ? checkedIn(seal) : 'The seal is not read yet.'}
      </span>
      <a href={href('/seal')}>How the seal stands</a>
    </p>
  );
};

const checkedIn = ({ check }: AuditSealSummary): string =>
  check
    ? `${check.findings ? 'Tampering' : 'No tampering'} was found, checked ${ago(now() - Date.parse(check.at))}.`
    : 'The trail is not checked yet.';

export const Overview = () => {
  const [time] = useState(now);
  const since = secondsBefore(time, presets['Last week']);
  const whole = useWhole(readState({ ...own, since }));
  const extent = (
    <p class="muted">
      The last seven days: <Extent {...whole} />
    </p>
  );
  return (
    <Screen title="Overview" actions={extent}>
      <div class="card stack">
        <Seal />
        <WeakAdmins />
      </div>
      <Loaded what="The entries" from={whole}>
        {(entries) => (
          <Counts
            entries={entries}
            since={since}
            time={time}
            span={spanRead(whole, { since })}
            isPart={whole.isBusy || whole.failure !== undefined}
          />
        )}
      </Loaded>
    </Screen>
  );
};

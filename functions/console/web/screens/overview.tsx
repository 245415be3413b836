import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { AuditEntry } from '../../../client/paths.ts';
import { settings } from '../api.ts';
import { Entries } from '../components/entries.tsx';
import { Extent } from '../components/extent.tsx';
import { showTrail } from '../components/filters.tsx';
import { lastCheck } from '../components/findings.tsx';
import { GroupTable } from '../components/groups.tsx';
import { Histogram } from '../components/histogram.tsx';
import { Loaded } from '../components/notice.tsx';
import { Card, Screen } from '../components/screen.tsx';
import { ago, counted, grouped } from '../format.ts';
import { href } from '../router.ts';
import { now } from '../service.ts';
import { groupsOf } from '../trail/groups.ts';
import type { Span } from '../trail/histogram.ts';
import { changesRights, isLogin, isRegistration, usersSince } from '../trail/overview.ts';
import { presets, readState, secondsBefore, type TrailState } from '../trail/query.ts';
import { spanRead, useWhole } from '../trail/whole.ts';

/** Entries that machines have posted are counted nowhere here. */
const own: Partial<TrailState> = settings.machines ? { from: 'service' } : {};

const queries = {
  registrations: { ...own, action: 'CREATE', result: 'SUCCESS', only: 'registrations' },
  logins: { ...own, action: 'LOGIN', result: 'SUCCESS' },
  failures: { ...own, action: 'LOGIN', result: 'FAILURE' },
} as const;

const most = 5;

interface CountsProps {
  readonly entries: readonly AuditEntry[];
  readonly since: string;
  /** When the screen was opened, in milliseconds since 1970. */
  readonly time: number;
  /** The time range of the entries that were read. */
  readonly span: Span;
}

interface ChartProps extends CountsProps {
  readonly title: string;
  readonly query: Partial<TrailState>;
  readonly children?: ComponentChildren;
}

const Chart = ({ title, entries, query, since, time, span, children }: ChartProps) => (
  <Card title={title}>
    <Histogram
      entries={entries}
      bounds={{ from: Date.parse(since), until: time }}
      caption={<a href={href('/audit', { ...query, ...span })}>{grouped(entries.length)} in all</a>}
      narrow={(own) => showTrail(readState({ ...query, ...own }))}
    />
    {children}
  </Card>
);

const Counts = (props: CountsProps) => {
  const { entries, since, time, span } = props;
  const failures = entries.filter((entry) => isLogin(entry, 'FAILURE'));
  const users = (title: string, from: string) => (
    <a
      href={href('/audit', {
        ...queries.logins,
        ...span,
        since: from > span.since ? from : span.since,
        group: 'userId',
      })}
    >
      {counted(usersSince(entries, Date.parse(from)), 'user')} in the last {title}
    </a>
  );
  const failed = (by: 'ipAddress' | 'userId') => (
    <GroupTable
      isShort
      by={by}
      groups={groupsOf(failures, by).slice(0, most)}
      narrow={(value) => showTrail(readState({ ...queries.failures, ...span, [by]: value }))}
    />
  );
  return (
    <>
      <div class="columns">
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
          <p class="row">
            {users('day', secondsBefore(time, presets['Last day']))} {users('week', since)}
          </p>
        </Chart>
        <Chart {...props} title="Failed logins" entries={failures} query={queries.failures} />
        <Card title="Seal">
          <Seal />
        </Card>
        <Card title="Most failed logins, by source">{failed('ipAddress')}</Card>
        <Card title="Most failed logins, by account">{failed('userId')}</Card>
      </div>
      <section class="trail stack">
        <h2>New admins, other changes of rights, suspensions</h2>
        <Entries
          pages={entries.filter(changesRights)}
          caption="Changes of what users may do"
          empty="There were none."
        />
      </section>
    </>
  );
};

const Seal = () => {
  const check = lastCheck.use();
  const said = check
    ? `${check.findings ? counted(check.findings, 'finding') : 'No tampering was found'}, checked ${ago(now() - Date.parse(check.at))}`
    : 'Not checked yet';
  if (!settings.sealed) return <p>The trail is not sealed.</p>;
  return (
    <p class={check?.findings ? 'bad' : ''}>
      {said}. <a href={href('/seal')}>How the seal stands</a>
    </p>
  );
};

export const Overview = () => {
  const [time] = useState(now);
  const since = secondsBefore(time, presets['Last week']);
  const whole = useWhole(readState({ ...own, since }));
  return (
    <Screen title="Overview">
      <p class="muted">
        The last seven days: <Extent {...whole} />.
      </p>
      <Loaded what="The entries" from={whole}>
        {(entries) => (
          <Counts entries={entries} since={since} time={time} span={spanRead(whole, { since })} />
        )}
      </Loaded>
    </Screen>
  );
};

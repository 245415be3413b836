/** A table of the roles and addresses that a user has had. */
import type { AuditEntry, UserDetails } from '../../../client/paths.ts';
import { settings } from '../api.ts';
import { type StandingSpan, standingsOf } from '../trail/standing.ts';
import { Card } from './screen.tsx';
import { type Column, Table } from './table.tsx';
import { Time, Whole } from './text.tsx';
import { UserName } from './user-name.tsx';

const columns: readonly Column<StandingSpan>[] = [
  { title: 'From', cell: ({ from }) => (from ? <Time at={from} /> : 'before the trail') },
  { title: 'Until', cell: ({ until }) => (until ? <Time at={until} /> : 'now') },
  {
    title: 'Role',
    cell: ({ values: { role = 'unknown', auditor } }) => (
      <span>
        {String(role)}
        {auditor === true && ', auditor'}
      </span>
    ),
  },
  ...(settings.auditDetail === 'full'
    ? [
        {
          title: 'Address',
          cell: ({ values: { email = 'unknown' } }: StandingSpan) => <Whole text={String(email)} />,
        },
      ]
    : []),
  { title: 'By', cell: ({ by }) => <UserName id={by} />, class: 'name' },
];

interface StandingsProps {
  readonly id: number;
  readonly entries: readonly AuditEntry[];
  /** Absent: deleted. */
  readonly user: UserDetails | undefined;
}

/** Entries have addresses only in full detail. */
export const Standings = ({ id, entries, user }: StandingsProps) => (
  <Card title={settings.auditDetail === 'full' ? 'Role and address over time' : 'Role over time'}>
    <Table
      caption="What the user was, newest first"
      columns={columns}
      rows={standingsOf(id, entries, user)}
      keyOf={({ until }) => until}
      empty="The trail has no entry that says so."
    />
  </Card>
);

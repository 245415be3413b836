import { counted, grouped } from '../format.ts';
import { type Group, groupsOf } from '../trail/groups.ts';
import { type Grouping, groupings, none, type TrailState } from '../trail/query.ts';
import { spanRead, type Whole } from '../trail/whole.ts';
import { Button } from './button.tsx';
import { Extent } from './extent.tsx';
import { MachineName } from './machine-name.tsx';
import { Loaded } from './notice.tsx';
import { type Column, Table } from './table.tsx';
import { Time } from './text.tsx';
import { UserName } from './user-name.tsx';
import { Waits } from './waits.tsx';

const mostGroups = 100;

const GroupName = ({ by, value }: { by: Grouping; value: string }) => {
  if (by === 'userId') return <UserName id={value} />;
  if (by === 'machineId' && value !== none) return <MachineName id={Number(value)} />;
  return <>{value.replaceAll('_', ' ')}</>;
};

const columnsFor = (by: Grouping, narrow: (value: string) => void): readonly Column<Group>[] => [
  {
    title: groupings[by],
    cell: ({ value }) => (
      <Button class="link" onClick={() => narrow(value)}>
        <GroupName by={by} value={value} />
      </Button>
    ),
    class: 'name',
  },
  { title: 'Entries', cell: ({ count }) => grouped(count), class: 'count' },
  { title: 'Failures', cell: ({ failures }) => grouped(failures), class: 'count' },
  { title: 'First', cell: ({ first }) => <Time at={first} /> },
  { title: 'Last', cell: ({ last }) => <Time at={last} /> },
];

interface GroupTableProps {
  readonly by: Grouping;
  readonly groups: readonly Group[];
  readonly narrow: (value: string) => void;
  /** Whether it shows only the counts of entries. */
  readonly isShort?: boolean;
  readonly what?: string;
}

/** A table of groups. A click on a group narrows the query to it. */
export const GroupTable = ({
  by,
  groups,
  narrow,
  isShort = false,
  what = 'Entries',
}: GroupTableProps) => (
  <Table
    caption={`${what} by ${groupings[by].toLowerCase()}`}
    columns={columnsFor(by, narrow).slice(0, isShort ? 2 : 5)}
    rows={groups}
    keyOf={({ value }) => value}
    empty="No entry matches the filters. Widen the time, or clear a filter."
  />
);

interface GroupsProps {
  readonly state: TrailState;
  readonly by: Grouping;
  readonly whole: Whole;
  readonly change: (changes: Partial<TrailState>) => void;
}

/** All entries of a query, grouped by one of their fields. */
export const Groups = ({ state, by, whole, change }: GroupsProps) => {
  const narrow = (value: string) => {
    const { about } = state;
    const whom = by === 'userId' && value !== about ? { resourceId: about } : {};
    change({ ...(about && whom), ...spanRead(whole, state), [by]: value, group: '' });
  };
  return (
    <Loaded what="The entries" from={whole}>
      {(entries) => {
        const groups = groupsOf(entries, by);
        return (
          <>
            <p class="muted">
              <span role="status">
                {counted(groups.length, 'group')}
                {groups.length > mostGroups && ` (the ${mostGroups} largest are shown)`}
              </span>{' '}
              of <Extent {...whole} />
            </p>
            {by === 'ipAddress' && <Waits entries={entries} />}
            <GroupTable by={by} groups={groups.slice(0, mostGroups)} narrow={narrow} />
          </>
        );
      }}
    </Loaded>
  );
};

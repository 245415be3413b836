import { useEffect, useRef, useState } from 'preact/hooks';
import { counted } from '../format.ts';
import { useLoad } from '../loading.ts';
import { type Group, groupsOf } from '../trail/groups.ts';
import { type Grouping, groupings, type TrailState } from '../trail/query.ts';
import { readAll } from '../trail/read.ts';
import { Loaded } from './notice.tsx';
import { type Column, Table } from './table.tsx';
import { Time } from './text.tsx';
import { UserName } from './user-name.tsx';

/** Entries that are read at most. */
const mostEntries = 10_000;

/** Groups that are shown at most. */
const mostGroups = 100;

const columnsFor = (by: Grouping, narrow: (value: string) => void): readonly Column<Group>[] => [
  {
    title: groupings[by],
    cell: ({ value }) => (
      <button type="button" class="link" onClick={() => narrow(value)}>
        {by === 'userId' ? <UserName id={value} /> : value.replaceAll('_', ' ')}
      </button>
    ),
    class: 'name',
  },
  { title: 'Entries', cell: ({ count }) => count.toLocaleString() },
  { title: 'Failures', cell: ({ failures }) => failures.toLocaleString() },
  { title: 'First', cell: ({ first }) => <Time at={first} /> },
  { title: 'Last', cell: ({ last }) => <Time at={last} /> },
];

interface GroupsProps {
  readonly state: TrailState;
  readonly by: Grouping;
  readonly change: (changes: Partial<TrailState>) => void;
}

/** All entries of a query, counted by what they have in common. A group narrows the query to it. */
export const Groups = ({ state, by, change }: GroupsProps) => {
  const [count, setCount] = useState(0);
  const wanted = useRef('');
  const query = JSON.stringify({ ...state, group: '' });
  useEffect(() => {
    wanted.current = query;
    return () => {
      wanted.current = '';
    };
  }, [query]);
  const entries = useLoad(query, () =>
    readAll(state, mostEntries, (read) => {
      setCount(read);
      return wanted.current === query;
    }),
  );
  const narrow = (value: string) => {
    const { about } = state;
    const whom = by === 'userId' && value !== about ? { resourceId: about } : {};
    change({ ...(about && whom), [by]: value, group: '' });
  };
  return (
    <>
      {entries.isBusy && (
        <p class="busy muted">{counted(count, 'entry', 'entries')} read so far…</p>
      )}
      <Loaded what="The entries" from={entries}>
        {({ data, next }) => {
          const groups = groupsOf(data, by);
          return (
            <>
              <p class="muted" role="status">
                {counted(groups.length, 'group')} of {counted(data.length, 'entry', 'entries')}
                {next && ', the most that are grouped: narrow the time to see the others'}.
                {groups.length > mostGroups && ` The ${mostGroups} largest are shown.`}
              </p>
              <Table
                caption={`Entries by ${groupings[by]}`}
                columns={columnsFor(by, narrow)}
                rows={groups.slice(0, mostGroups)}
                keyOf={({ value }) => value}
                empty="No entry matches the filters. Widen the time, or clear a filter."
              />
            </>
          );
        }}
      </Loaded>
    </>
  );
};

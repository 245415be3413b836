import { useLayoutEffect, useState } from 'preact/hooks';
import type { User } from '../../../client/paths.ts';
import { counted, localDay, utcDay } from '../format.ts';
import { usePages } from '../loading.ts';
import { href } from '../router.ts';
import { isAdmin } from '../session.ts';
import { idIn, isWalk, limit, readUsers, type UserQuery } from '../user-query.ts';
import { Person } from './person.tsx';
import { Address, isOver, type Seen } from './profile.tsx';
import { type Selection, SelectionBar, SelectionBox, useSelection } from './selection.tsx';
import { type Column, PagesTable } from './table.tsx';
import { Badge, Time } from './text.tsx';
import { UserName } from './user-name.tsx';

/** The users of a query, of whom some can be selected. */
export function UserList({ query }: { query: UserQuery }) {
  const [left] = useState<Partial<Left>>(history.state);
  const pages = usePages<User>('users', (path) => readUsers(query, path), left.rows);
  const { rows = [], more } = pages;
  const selection = useSelection(rows);
  const isLoaded = pages.rows !== undefined;
  useLayoutEffect(() => {
    if (isLoaded && left.top !== undefined) scrollTo(0, left.top);
  }, [isLoaded]);
  const isFull = query.q !== '' && rows.length >= limit;
  const goesOn = isWalk(query) && more !== undefined;
  const id = idIn(query.q);
  return (
    <>
      {id && isLoaded && rows.every((user) => String(user.id) !== id) && (
        <p>
          The user with the id {id}: <UserName id={id} isLink />
        </p>
      )}
      {isAdmin() && <SelectionBar {...selection} pages={pages} />}
      {query.seenBefore && <p class="muted">Users who were never seen are not in this list.</p>}
      <PagesTable
        pages={{ ...pages, more: isFull ? undefined : more }}
        things={['user', 'users']}
        caption="Users"
        columns={columnsFor(selection, query)}
        keyOf={({ id }) => id}
        empty={more ? 'No user found so far.' : <Nobody {...query} />}
      />
      {goesOn && (
        <p class="muted" role="status">
          {isFull
            ? `${counted(limit, 'user')} are shown at most: type more of the name or the address.`
            : `${counted(rows.length, 'user')} found so far${readUntil(query, rows)}.`}
        </p>
      )}
    </>
  );
}

/** How far a walk has read at least, as the end of a sentence: the service says no more than whom it has found. */
const readUntil = ({ order }: UserQuery, rows: readonly User[]): string => {
  const last = rows.at(-1);
  if (!last) return '';
  return `, among those created ${order ? 'since' : 'until'} ${localDay(last.created_at)}`;
};

/** How far the list had been read when the user left it, kept in that step of the browser's history. */
interface Left {
  readonly rows: number;
  readonly top: number;
}

const leave = ({ currentTarget }: { currentTarget: Element }): void => {
  const rows = currentTarget.closest('tbody')?.rows.length ?? 0;
  history.replaceState({ ...history.state, rows, top: scrollY } satisfies Left, '');
};

const columnsFor = (
  selection: Selection,
  { seenBefore }: UserQuery,
): readonly Column<User & Seen>[] => [
  {
    title: 'Name',
    cell: (user) => (
      <div class="beside">
        {isAdmin() && <SelectionBox {...selection} user={user} />}
        <Person user={user} isLink onClick={leave} />
      </div>
    ),
    class: 'name',
  },
  {
    title: 'Address',
    cell: (user) => (
      <div>
        <Address {...user} /> <Invited {...user} />
      </div>
    ),
  },
  { title: 'Created', cell: ({ created_at }) => <Time at={created_at} write={localDay} /> },
  ...(seenBefore
    ? [
        {
          title: 'Last seen',
          cell: ({ last_seen_on: day }: Seen) => day && <Time at={day} write={utcDay} />,
        },
      ]
    : []),
];

/** The state of a user's invitation, while the user has no password. */
const Invited = ({ invited_until: until }: User) =>
  until ? (
    <>
      <Badge>Invited</Badge>{' '}
      <span class="muted">
        until {localDay(until)}
        {isOver(until) && ', ended'}
      </span>
    </>
  ) : null;

const Nobody = ({ q, role, status, seenBefore }: UserQuery) =>
  q || role || status || seenBefore ? (
    <p>
      {q ? `No user has ${q} in the name or the address, or as the id.` : 'No user is like this.'}{' '}
      <a href={href('/users')}>Show all users</a>
    </p>
  ) : (
    <>There are no users yet. Create the first one.</>
  );

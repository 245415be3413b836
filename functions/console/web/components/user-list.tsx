import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { User } from '../../../client/paths.ts';
import { counted, localDay } from '../format.ts';
import { usePages } from '../loading.ts';
import { href } from '../router.ts';
import { isAdmin } from '../session.ts';
import { limit, readUsers, type UserQuery } from '../user-query.ts';
import { Person } from './person.tsx';
import { Address } from './profile.tsx';
import { type Selection, SelectionBar, SelectionBox, useSelection } from './selection.tsx';
import { type Column, PagesTable } from './table.tsx';
import { Time } from './text.tsx';

/** The users of a query, of whom some can be selected. */
export function UserList({ query }: { query: UserQuery }) {
  const [left] = useState<Partial<Left>>(history.state);
  const parts = useRef(0);
  const pages = usePages<User>(
    'users',
    (path) => {
      parts.current = path ? parts.current + 1 : 1;
      return readUsers(query, path);
    },
    left.rows,
  );
  const selection = useSelection();
  const { rows = [], more } = pages;
  const isLoaded = pages.rows !== undefined;
  useLayoutEffect(() => {
    if (isLoaded && left.top !== undefined) scrollTo(0, left.top);
  }, [isLoaded]);
  const { q } = query;
  const isFull = q !== '' && rows.length >= limit;
  return (
    <>
      {isAdmin() && <SelectionBar {...selection} pages={pages} />}
      <PagesTable
        pages={{ ...pages, more: isFull ? undefined : more }}
        things={['user', 'users']}
        caption="Users"
        columns={columnsFor(selection)}
        keyOf={({ id }) => id}
        empty={q && more ? 'No user found so far.' : <Nobody q={q} />}
      />
      {q && more && (
        <p class="muted" role="status">
          {isFull
            ? `${counted(limit, 'user')} are shown at most: type more of the name or the address.`
            : `${counted(parts.current, 'part')} of the list read so far, with ${counted(rows.length, 'user')} found.`}
        </p>
      )}
    </>
  );
}

/** How far the list had been read when the user left it, kept in that step of the browser's history. */
interface Left {
  readonly rows: number;
  readonly top: number;
}

const leave = ({ currentTarget }: { currentTarget: Element }): void => {
  const rows = currentTarget.closest('tbody')?.rows.length ?? 0;
  history.replaceState({ ...history.state, rows, top: scrollY } satisfies Left, '');
};

const columnsFor = (selection: Selection): readonly Column<User>[] => [
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
  { title: 'Address', cell: Address },
  { title: 'Created', cell: ({ created_at }) => <Time at={created_at} write={localDay} /> },
];

const Nobody = ({ q }: { q: string }) =>
  q ? (
    <p>
      No user has {q} in the name or the address, or as the id.{' '}
      <a href={href('/users')}>Show all users</a>
    </p>
  ) : (
    <>There are no users yet. Create the first one.</>
  );

import { useLayoutEffect, useRef } from 'preact/hooks';
import { settings } from '../api.ts';
import { Button } from '../components/button.tsx';
import { openDialog } from '../components/dialog.tsx';
import { Field, Select } from '../components/form.tsx';
import { NewUser } from '../components/new-user.tsx';
import { Screen } from '../components/screen.tsx';
import { UserList } from '../components/user-list.tsx';
import { changeQuery, place } from '../router.ts';
import { isAdmin } from '../session.ts';
import {
  everybody,
  orders,
  readUserQuery,
  roles,
  statuses,
  type UserQuery,
} from '../user-query.ts';

/** Milliseconds from the last key until the search for the typed text begins. */
const pause = 300;

/** All users, or those of a search or of filters. */
export const Users = () => {
  const query = readUserQuery(place.use().query);
  const create = isAdmin() && (
    <Button class="primary" onClick={() => openDialog(<NewUser />)}>
      Create a user
    </Button>
  );
  return (
    <Screen title="Users" actions={create}>
      <UserFilters {...query} />
      {/* Each query has its own list, in which nobody is selected at first. */}
      <UserList key={JSON.stringify(query)} query={query} />
    </Screen>
  );
};

/** The controls of the list of users, which write their values into the address bar. */
function UserFilters({ q, role, status, order, seenBefore }: UserQuery) {
  const form = useRef<HTMLFormElement>(null);
  const timer = useRef(0);
  const look = () => {
    clearTimeout(timer.current);
    // The screen may have been left meanwhile.
    const typed = String(form.current && new FormData(form.current).get('q')).trim();
    if (form.current) change({ q: typed });
  };
  // Text that is being typed is ahead of the address bar.
  useLayoutEffect(() => {
    const input = form.current?.querySelector('input');
    if (input && input !== document.activeElement) input.value = q;
  }, [q]);
  return (
    <search>
      <form
        ref={form}
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          look();
        }}
      >
        <Field
          label="Find users"
          name="q"
          type="search"
          defaultValue={q}
          placeholder="Name, address or id"
          aria-keyshortcuts="/"
          onInput={() => {
            clearTimeout(timer.current);
            timer.current = setTimeout(look, pause);
          }}
        />
        <Select label="Show" name="role" value={role} onChange={choose} options={roles} />
        {Object.keys(statuses).length > 1 && (
          <Select
            label="Status"
            name="status"
            value={status}
            onChange={choose}
            options={statuses}
          />
        )}
        <Select label="Order" name="order" value={order} onChange={choose} options={orders} />
        {settings.sessions && (
          <Field
            label="Last seen before"
            name="seenBefore"
            type="date"
            value={seenBefore}
            onChange={choose}
          />
        )}
      </form>
    </search>
  );
}

/** The day of `seenBefore` excludes all others: whichever is chosen last counts. */
const change = (chosen: Partial<UserQuery>): void => {
  const { seenBefore, ...others } = everybody;
  if (Object.values(chosen).every((value) => value === '')) changeQuery(chosen);
  else changeQuery({ ...(chosen.seenBefore ? others : { seenBefore }), ...chosen });
};

const choose = ({
  currentTarget: { name, value },
}: {
  readonly currentTarget: HTMLInputElement | HTMLSelectElement;
}): void => change({ [name]: value });

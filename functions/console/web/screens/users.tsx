import { useLayoutEffect, useRef } from 'preact/hooks';
import { Button } from '../components/button.tsx';
import { openDialog } from '../components/dialog.tsx';
import { Field, Select } from '../components/form.tsx';
import { NewUser } from '../components/new-user.tsx';
import { Screen } from '../components/screen.tsx';
import { UserList } from '../components/user-list.tsx';
import { changeQuery, place } from '../router.ts';
import { isAdmin } from '../session.ts';
import { orders, readUserQuery, roles, type UserQuery } from '../user-query.ts';

/** Milliseconds from the last key until the search for the typed text begins. */
const pause = 300;

/** All users, the admins, or the users whom a search has found. */
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
function UserFilters({ q, role, order }: UserQuery) {
  const form = useRef<HTMLFormElement>(null);
  const timer = useRef(0);
  const look = () => {
    clearTimeout(timer.current);
    // The screen may have been left meanwhile.
    if (form.current) changeQuery({ q: String(new FormData(form.current).get('q')).trim() });
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
        <Select label="Order" name="order" value={order} onChange={choose} options={orders} />
      </form>
    </search>
  );
}

const choose = ({ currentTarget: { name, value } }: { currentTarget: HTMLSelectElement }): void =>
  changeQuery({ [name]: value });

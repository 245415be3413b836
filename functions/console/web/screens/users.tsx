import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { settings } from '../api.ts';
import { Button } from '../components/button.tsx';
import { openDialog } from '../components/dialog.tsx';
import { Field, Select, type SelectProps } from '../components/form.tsx';
import { NewUser } from '../components/new-user.tsx';
import { Screen } from '../components/screen.tsx';
import { UserList } from '../components/user-list.tsx';
import { changeQuery, place } from '../router.ts';
import { now } from '../service.ts';
import { isAdmin } from '../session.ts';
import {
  inForce,
  orders,
  readUserQuery,
  roles,
  seenOrders,
  statuses,
  type UserQuery,
} from '../user-query.ts';

/** Milliseconds from the last key until the search for the typed text begins. */
const pause = 300;

/** All users, or those of a search or of filters. */
export const Users = () => {
  const query = readUserQuery(place.use().query);
  const listed = inForce(query);
  const create = isAdmin() && (
    <Button class="primary" onClick={() => openDialog(<NewUser />)}>
      Create a user
    </Button>
  );
  return (
    <Screen title="Users" actions={create}>
      <UserFilters {...query} />
      {/* Each query has its own list, in which nobody is selected at first. */}
      <UserList key={JSON.stringify(listed)} query={listed} />
    </Screen>
  );
};

/** The controls of the list of users, which write their values into the address bar. */
function UserFilters({ q, role, status, order, seenBefore }: UserQuery) {
  const form = useRef<HTMLFormElement>(null);
  const timer = useRef(0);
  const reason = useId();
  const waiting = { disabled: seenBefore !== '', 'aria-describedby': reason };
  const look = () => {
    clearTimeout(timer.current);
    // The screen may have been left meanwhile.
    const input = form.current?.querySelector('input');
    if (input) changeQuery({ q: input.value.trim() });
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
        class="row seek"
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
          {...waiting}
          onInput={() => {
            clearTimeout(timer.current);
            timer.current = setTimeout(look, pause);
          }}
        />
        <Choice label="Show" name="role" value={role} options={roles} {...waiting} />
        {Object.keys(statuses).length > 1 && (
          <Choice label="Status" name="status" value={status} options={statuses} {...waiting} />
        )}
        <Choice
          label="Order"
          name="order"
          value={order}
          options={seenBefore ? seenOrders : orders}
        />
        {settings.sessions && <SeenBefore value={seenBefore} />}
      </form>
      <p class="muted" id={reason} role="status">
        {seenBefore &&
          'Find, Show and Status wait while a day is chosen: they cannot be combined with it.'}
      </p>
    </search>
  );
}

/** A choice, which applies at once. */
const Choice = (props: SelectProps) => <Select {...props} onChange={choose} />;

const SeenBefore = ({ value }: { value: string }) => (
  <>
    <Field label="Last seen before" name="seenBefore" type="date" value={value} onChange={choose} />
    <Button onClick={() => changeQuery({ seenBefore: longUnseen() })}>Not seen for 90 days</Button>
  </>
);

const choose = ({
  currentTarget: { name, value },
}: {
  readonly currentTarget: HTMLInputElement | HTMLSelectElement;
}): void => changeQuery({ [name]: value });

const longUnseen = (): string => new Date(now() - 90 * 86_400_000).toISOString().slice(0, 10);

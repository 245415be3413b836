import { useLayoutEffect, useRef } from 'preact/hooks';
import { changeQuery } from '../router.ts';
import { orders, roles, type UserQuery } from '../user-query.ts';
import { Field, Select } from './form.tsx';

/** Milliseconds without a key after which what was typed is looked for. */
const pause = 300;

/** The controls of the list of users, which write what they say into the address bar. */
export function UserFilters({ q, role, order }: UserQuery) {
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
        <Select
          label="Show"
          name="role"
          value={role}
          onChange={({ currentTarget }) => changeQuery({ role: currentTarget.value })}
          options={roles}
        />
        <Select
          label="Order"
          name="order"
          value={order}
          onChange={({ currentTarget }) => changeQuery({ order: currentTarget.value })}
          options={orders}
        />
      </form>
    </search>
  );
}

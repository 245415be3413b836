import { useLayoutEffect, useState } from 'preact/hooks';
import { api, Failure, type Page, send, sendForPage } from '../api.ts';
import { Field, FormDialog, PasswordField, Select } from '../components/form.tsx';
import { tell } from '../components/notice.tsx';
import { Address, passwordRule, RoleBadge } from '../components/profile.tsx';
import { Screen } from '../components/screen.tsx';
import { type Column, PagesTable } from '../components/table.tsx';
import { Time } from '../components/text.tsx';
import type { NewUserWithRole, User } from '../contract.d.ts';
import { usePages } from '../loading.ts';
import { changeQuery, go, href, place } from '../router.ts';

const limit = 100;

/** How far the list was read when it was left: kept in that step of the browser's history. */
interface Left {
  readonly rows: number;
  readonly top: number;
}

const leave = ({ currentTarget }: { currentTarget: Element }): void => {
  const rows = currentTarget.closest('tbody')?.rows.length ?? 0;
  history.replaceState({ rows, top: scrollY } satisfies Left, '');
};

const columns: readonly Column<User>[] = [
  {
    title: 'Name',
    cell: ({ id, name }) => (
      <a href={href(`/users/${id}`)} onClick={leave}>
        {name}
      </a>
    ),
    class: 'name',
  },
  { title: 'Email', cell: Address },
  { title: 'Role', cell: RoleBadge },
  { title: 'Created', cell: ({ created_at }) => <Time at={created_at} isDay /> },
  { title: 'Id', cell: ({ id }) => id, class: 'number' },
];

const findById = async (id: number): Promise<Page<User[]>> => {
  try {
    return { data: [await send(api.GET('/api/users/{id}', { params: { path: { id } } }))] };
  } catch (error) {
    if (error instanceof Failure && error.status === 404) return { data: [] };
    throw error;
  }
};

interface Query {
  readonly limit?: number;
  readonly order?: 'asc' | 'desc';
  readonly role?: 'admin';
  readonly email?: string;
}

const list = (query: Query) => sendForPage(api.GET('/api/users', { params: { query } }));

const isId = (text: string) => /^\d{1,16}$/.test(text);
const isAddress = (text: string) => /^[^\s@]+@[^\s@]+$/.test(text);

/** The users who are found: there is an index of ids, and one of whole addresses. */
const find = async (sought: string): Promise<Page<User[]>> => {
  if (isId(sought)) return findById(Number(sought));
  return isAddress(sought) ? list({ email: sought }) : { data: [] };
};

const notFound = (sought: string) =>
  isId(sought) || isAddress(sought)
    ? `No user has the ${isId(sought) ? 'id' : 'address'} ${sought}.`
    : 'Users are found by their whole address, or by their id.';

const roles = { '': 'All users', admin: 'Admins' } as const;
const orders = { '': 'Oldest first', desc: 'Newest first' } as const;

interface Shown {
  /** The address or the id that is looked for; empty: a list is shown. */
  readonly q: string;
  readonly role: keyof typeof roles;
  readonly order: keyof typeof orders;
}

const shownBy = ({ q = '', role, order }: Readonly<Record<string, string>>): Shown => ({
  q,
  role: role === 'admin' ? role : '',
  order: order === 'desc' ? order : '',
});

const Search = ({ q, role, order }: Shown) => (
  <search>
    <form
      class="row"
      onSubmit={(event) => {
        event.preventDefault();
        const sought = String(new FormData(event.currentTarget).get('q'));
        changeQuery({ q: sought.trim() });
      }}
    >
      <Field
        label="Find a user"
        name="q"
        type="search"
        defaultValue={q}
        placeholder="Whole address or id"
        aria-keyshortcuts="/"
        onInput={({ currentTarget }) => currentTarget.value === '' && changeQuery({ q: '' })}
      />
      <button type="submit">Find</button>
      <Select
        label="Show"
        name="role"
        defaultValue={role}
        onChange={({ currentTarget }) => changeQuery({ role: currentTarget.value })}
        options={roles}
      />
      <Select
        label="Order"
        name="order"
        defaultValue={order}
        onChange={({ currentTarget }) => changeQuery({ order: currentTarget.value })}
        options={orders}
      />
    </form>
  </search>
);

const required = { required: true, autoComplete: 'off' } as const;

const CreateUser = ({ close }: { close: () => void }) => {
  const create = async (body: NewUserWithRole) => {
    const user = await send(api.POST('/api/users', { body }));
    tell(`${user.name} was created.`);
    go(`/users/${user.id}`);
  };
  return (
    <FormDialog
      title="Create a user"
      act={create}
      failed="The user was not created"
      submit="Create the user"
      close={close}
    >
      <Field label="Name" name="name" {...required} />
      <Field label="Email address" name="email" type="email" {...required} />
      <PasswordField
        label="Password"
        name="password"
        autoComplete="new-password"
        hint={passwordRule}
      />
      <Select
        label="Role"
        name="role"
        options={{ user: 'User', admin: 'Admin: may do everything' }}
      />
    </FormDialog>
  );
};

/** All users, the admins, or the one with an address or an id. */
export const Users = () => {
  const shown = shownBy(place.use().query);
  const { q, role, order } = shown;
  const [isCreating, setCreating] = useState(false);
  const left: Left | null = history.state;
  const load = (path?: string): Promise<Page<User[]>> => {
    if (path) return sendForPage(api.GET(path as '/api/users'));
    return q ? find(q) : list({ limit, ...(role && { role }), ...(order && { order }) });
  };
  const pages = usePages<User>(JSON.stringify(shown), load, left?.rows);
  const isLoaded = pages.rows !== undefined;
  useLayoutEffect(() => {
    if (isLoaded && left) scrollTo(0, left.top);
  }, [isLoaded]);
  const create = (
    <button type="button" class="primary" onClick={() => setCreating(true)}>
      Create a user
    </button>
  );
  return (
    <Screen title="Users" actions={create}>
      <Search key={q} {...shown} />
      <PagesTable
        pages={pages}
        things={['user', 'users']}
        caption="Users"
        columns={columns}
        keyOf={({ id }) => id}
        empty={
          q ? (
            <p>
              {notFound(q)} <a href={href('/users')}>Show all users</a>
            </p>
          ) : (
            'There are no users yet. Create the first one.'
          )
        }
      />
      {isCreating && <CreateUser close={() => setCreating(false)} />}
    </Screen>
  );
};

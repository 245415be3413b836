import { useLayoutEffect, useState } from 'preact/hooks';
import { api, Failure, type Page, send, sendForPage } from '../api.ts';
import { Dialog } from '../components/dialog.tsx';
import { Field, Form, PasswordField, Select } from '../components/form.tsx';
import { tell } from '../components/notice.tsx';
import { passwordRule } from '../components/profile.tsx';
import { Screen } from '../components/screen.tsx';
import { type Column, PagesTable } from '../components/table.tsx';
import { Badge, Time } from '../components/text.tsx';
import type { User } from '../contract.d.ts';
import { useAction, usePages } from '../loading.ts';
import { changeQuery, go, href, place } from '../router.ts';

const limit = 100;

type Order = 'asc' | 'desc';

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
  { title: 'Email', cell: (user) => <Address user={user} /> },
  { title: 'Role', cell: ({ role }) => <RoleBadge role={role} /> },
  { title: 'Created', cell: ({ created_at }) => <Time at={created_at} isDay /> },
  { title: 'Id', cell: ({ id }) => id, class: 'number' },
];

/** An address; where addresses are verified, it says of one that is not. */
export const Address = ({ user: { email, email_verified: isVerified } }: { user: User }) => (
  <span>
    <span class="whole">{email}</span> {isVerified === false && <Badge>Not verified</Badge>}
  </span>
);

export const RoleBadge = ({ role }: Pick<User, 'role'>) =>
  role === 'admin' ? <Badge kind="strong">Admin</Badge> : <Badge>User</Badge>;

const findById = async (id: number): Promise<Page<User[]>> => {
  try {
    return { data: [await send(api.GET('/api/users/{id}', { params: { path: { id } } }))] };
  } catch (error) {
    if (error instanceof Failure && error.status === 404) return { data: [] };
    throw error;
  }
};

const list = (query: { limit?: number; order?: Order; email?: string }) =>
  sendForPage(api.GET('/api/users', { params: { query } }));

/** The users who are found: there is an index of ids, and one of whole addresses. */
const find = async (sought: string): Promise<Page<User[]>> => {
  if (isId(sought)) return findById(Number(sought));
  return isAddress(sought) ? list({ email: sought }) : { data: [] };
};

const isId = (text: string) => /^\d{1,16}$/.test(text);
const isAddress = (text: string) => /^[^\s@]+@[^\s@]+$/.test(text);
const notFound = (sought: string) =>
  isId(sought) || isAddress(sought)
    ? `No user has the ${isId(sought) ? 'id' : 'address'} ${sought}.`
    : 'Users are found by their whole address, or by their id.';

const Search = ({ sought, order }: { sought: string; order: Order }) => {
  const [text, setText] = useState(sought);
  const search = (value: string) => changeQuery({ q: value.trim() });
  return (
    <search>
      <form
        class="bar"
        onSubmit={(event) => {
          event.preventDefault();
          search(text);
        }}
      >
        <Field
          label="Find a user"
          value={text}
          onValue={(value) => {
            setText(value);
            if (value === '') search(value);
          }}
          input={{ type: 'search', placeholder: 'Whole address or id', 'aria-keyshortcuts': '/' }}
        />
        <button type="submit">Find</button>
        <Select
          label="Order"
          value={order}
          onValue={(value) => changeQuery({ order: value === 'asc' ? '' : value })}
          options={{ asc: 'Oldest first', desc: 'Newest first' }}
        />
      </form>
    </search>
  );
};

const CreateUser = ({ close }: { close: () => void }) => {
  const [name, setName] = useState('');
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [role, setRole] = useState<User['role']>('user');
  const action = useAction(async () => {
    const user = await send(api.POST('/api/users', { body: { name, email, password, role } }));
    tell(`${user.name} was created.`);
    go(`/users/${user.id}`);
  });
  const { faults = {} } = action.failure ?? {};
  return (
    <Dialog title="Create a user" close={close}>
      <Form
        action={action}
        failed="The user was not created"
        submit={role === 'admin' ? 'Create the admin' : 'Create the user'}
        cancel={close}
      >
        <Field label="Name" value={name} onValue={setName} fault={faults.name} input={required} />
        <Field
          label="Email address"
          value={email}
          onValue={setEmail}
          fault={faults.email}
          input={{ type: 'email', ...required }}
        />
        <PasswordField
          label="Password"
          value={password}
          onValue={setPassword}
          fault={faults.password}
          hint={passwordRule}
          autoComplete="new-password"
        />
        <Select
          label="Role"
          value={role}
          onValue={setRole}
          options={{ user: 'User', admin: 'Admin: may do everything' }}
        />
      </Form>
    </Dialog>
  );
};

const required = { required: true, autoComplete: 'off' } as const;

/** All users, and the one with an address or an id. */
export const Users = () => {
  const { q = '', order: ordered } = place.use().query;
  const order = ordered === 'desc' ? 'desc' : 'asc';
  const [isCreating, setCreating] = useState(false);
  const left: Left | null = history.state;
  const load = (path?: string): Promise<Page<User[]>> => {
    if (path) return sendForPage(api.GET(path as '/api/users'));
    return q ? find(q) : list({ limit, order });
  };
  const pages = usePages<User>(`users ${order} ${q}`, load, left?.rows);
  const isLoaded = pages.rows !== undefined;
  useLayoutEffect(() => {
    if (isLoaded && left) scrollTo(0, left.top);
  }, [isLoaded]);
  return (
    <Screen
      title="Users"
      actions={
        <button type="button" class="primary" onClick={() => setCreating(true)}>
          Create a user
        </button>
      }
    >
      <Search key={q} sought={q} order={order} />
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

import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { api, Failure, type Page, send, sendForPage, settings } from '../api.ts';
import { suspension } from '../components/access.tsx';
import { AddressField, Field, FormDialog, PasswordField, Select } from '../components/form.tsx';
import { Many, type ManyDeed, mostSelected } from '../components/many.tsx';
import { tell } from '../components/notice.tsx';
import { Named, Person } from '../components/person.tsx';
import { Address, deleteUser, isOwn, passwordRule, setSuspended } from '../components/profile.tsx';
import { Screen } from '../components/screen.tsx';
import { type Column, PagesTable } from '../components/table.tsx';
import { Time } from '../components/text.tsx';
import type { NewUserWithRole, User } from '../contract.d.ts';
import { counted } from '../format.ts';
import { type Pages, usePages } from '../loading.ts';
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

interface Selection {
  readonly selected: readonly User[];
  readonly toggle: (user: User) => void;
}

const columnsFor = ({ selected, toggle }: Selection): readonly Column<User>[] => [
  {
    title: 'Name',
    cell: (user) => (
      <>
        <input
          type="checkbox"
          aria-label={`Select #${user.id} ${user.name}`}
          checked={selected.some(({ id }) => id === user.id)}
          disabled={isOwn(user)}
          onChange={() => toggle(user)}
        />{' '}
        <Person user={user} isLink onClick={leave} />
      </>
    ),
    class: 'name',
  },
  { title: 'Email', cell: Address },
  { title: 'Created', cell: ({ created_at }) => <Time at={created_at} isDay /> },
];

const suspend: ManyDeed = {
  title: 'Suspend',
  done: 'suspended',
  consequence: `Each of them ${suspension}`,
  asksNumber: false,
  act: (user) => setSuspended(user, true),
};

/** The actions on a selection of users. */
const deeds: readonly ManyDeed[] = [
  {
    title: 'Delete',
    done: 'deleted',
    consequence: 'They are deleted for good, and their addresses are free for others.',
    asksNumber: true,
    act: (user) => deleteUser(user).then(() => undefined),
  },
  ...(settings.sessions ? [suspend] : []),
];

interface ChosenProps extends Selection {
  readonly pages: Pages<User>;
  readonly select: (users: readonly User[]) => void;
}

/** How many users are selected, and what can be done to them. */
const Chosen = ({ selected, toggle, select, pages }: ChosenProps) => {
  const [deed, setDeed] = useState<ManyDeed>();
  const { rows = [] } = pages;
  const onDone = (user: User, left: User | undefined) => {
    toggle(user);
    pages.update(({ data, ...page }) => ({
      ...page,
      data: data.flatMap((each) => (each.id === user.id ? (left ?? []) : each)),
    }));
  };
  return (
    <div class="row">
      {rows.length > 0 && (
        <button
          type="button"
          class="small"
          onClick={() => select(rows.filter((user) => !isOwn(user)).slice(0, mostSelected))}
        >
          Select all shown
        </button>
      )}
      {selected.length > 0 && (
        <>
          <span role="status">{counted(selected.length, 'user')} selected</span>
          {deeds.map((each) => (
            <button
              key={each.title}
              type="button"
              class="danger small"
              onClick={() => setDeed(each)}
            >
              {each.title}
            </button>
          ))}
          <button type="button" class="quiet small" onClick={() => select([])}>
            Select none
          </button>
        </>
      )}
      {deed && <Many {...deed} users={selected} onDone={onDone} close={() => setDeed(undefined)} />}
    </div>
  );
};

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
  readonly search?: string;
}

const list = (query: Query) => sendForPage(api.GET('/api/users', { params: { query } }));

/** The user with an id or a whole address, which an index finds; else all with this part. */
const find = async (sought: string, query: Query): Promise<Page<User[]>> => {
  const isAddress = /^[^\s@]+@[^\s@]+$/.test(sought);
  if (/^#?\d{1,16}$/.test(sought)) {
    const found = await findById(Number(sought.replace('#', '')));
    if (found.data.length > 0) return found;
  } else if (isAddress) {
    const found = await list({ email: sought });
    if (found.data.length > 0) return found;
  }
  return sought.length > 100 ? { data: [] } : list({ ...query, search: sought });
};

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

/** Milliseconds without a key after which what was typed is looked for. */
const pause = 300;

const Search = ({ q, role, order }: Shown) => {
  const form = useRef<HTMLFormElement>(null);
  const timer = useRef(0);
  const look = (delay: number) => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      const sought = new FormData(form.current ?? undefined).get('q');
      changeQuery({ q: String(sought).trim() });
    }, delay);
  };
  useEffect(() => () => clearTimeout(timer.current), []);
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
          look(0);
        }}
      >
        <Field
          label="Find users"
          name="q"
          type="search"
          defaultValue={q}
          placeholder="Name, address or id"
          aria-keyshortcuts="/"
          onInput={() => look(pause)}
        />
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
};

const CreateUser = ({ close }: { close: () => void }) => {
  const create = async (body: NewUserWithRole) => {
    const user = await send(api.POST('/api/users', { body }));
    tell(
      <>
        <Named user={user} /> was created.
      </>,
    );
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
      <Field label="Name" name="name" required autoComplete="off" />
      <AddressField autoComplete="off" pattern={settings.emailPattern} />
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

/** All users, the admins, or those who are found. */
export const Users = () => {
  const shown = shownBy(place.use().query);
  const { q, role, order } = shown;
  const [isCreating, setCreating] = useState(false);
  const [selected, select] = useState<readonly User[]>([]);
  const left: Left | null = history.state;
  const parts = useRef(0);
  const load = (path?: string): Promise<Page<User[]>> => {
    parts.current = path ? parts.current + 1 : 1;
    if (path) return sendForPage(api.GET(path as '/api/users'));
    const query = { limit, ...(role && { role }), ...(order && { order }) };
    return q ? find(q, query) : list(query);
  };
  const key = JSON.stringify(shown);
  const pages = usePages<User>(key, load, left?.rows);
  const { rows = [], more } = pages;
  const isLoaded = pages.rows !== undefined;
  useLayoutEffect(() => {
    if (isLoaded && left) scrollTo(0, left.top);
  }, [isLoaded]);
  useLayoutEffect(() => select([]), [key]);
  const selection: Selection = {
    selected,
    toggle: (user) =>
      select((before) => {
        const others = before.filter(({ id }) => id !== user.id);
        return others.length < before.length ? others : [...others, user].slice(0, mostSelected);
      }),
  };
  const isFull = q !== '' && rows.length >= limit;
  const create = (
    <button type="button" class="primary" onClick={() => setCreating(true)}>
      Create a user
    </button>
  );
  return (
    <Screen title="Users" actions={create}>
      <Search {...shown} />
      <Chosen {...selection} select={select} pages={pages} />
      <PagesTable
        pages={{ ...pages, more: isFull ? undefined : more }}
        things={['user', 'users']}
        caption="Users"
        columns={columnsFor(selection)}
        keyOf={({ id }) => id}
        empty={
          q && more ? (
            'No user found so far.'
          ) : q ? (
            <p>
              No user has {q} in the name or the address, or as the id.{' '}
              <a href={href('/users')}>Show all users</a>
            </p>
          ) : (
            'There are no users yet. Create the first one.'
          )
        }
      />
      {q && more && (
        <p class="muted" role="status">
          {isFull
            ? `${counted(limit, 'user')} are shown at most: type more of the name or the address.`
            : `${counted(parts.current, 'part')} of the list read so far, with ${counted(rows.length, 'user')} found.`}
        </p>
      )}
      {isCreating && <CreateUser close={() => setCreating(false)} />}
    </Screen>
  );
};

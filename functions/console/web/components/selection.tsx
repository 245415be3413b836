/** A selection of users, and what can be done to all of them. */
import { useState } from 'preact/hooks';
import { settings } from '../api.ts';
import type { User } from '../contract.d.ts';
import { counted } from '../format.ts';
import type { Pages } from '../loading.ts';
import { suspension } from './access.tsx';
import { Many, type ManyDeed, mostSelected } from './many.tsx';
import { deleteUser, isOwn, setSuspended } from './profile.tsx';

export interface Selection {
  readonly selected: readonly User[];
  readonly toggle: (user: User) => void;
  readonly select: (users: readonly User[]) => void;
}

export function useSelection(): Selection {
  const [selected, select] = useState<readonly User[]>([]);
  return {
    selected,
    toggle: (user) =>
      select((before) => {
        const others = before.filter(({ id }) => id !== user.id);
        return others.length < before.length ? others : [...others, user].slice(0, mostSelected);
      }),
    select,
  };
}

/** Selects a user of a list. Nobody can do to oneself what is done to a selection. */
export function SelectionBox({ user, selected, toggle }: Selection & { user: User }) {
  return (
    <input
      type="checkbox"
      aria-label={`Select #${user.id} ${user.name}`}
      checked={selected.some(({ id }) => id === user.id)}
      disabled={isOwn(user)}
      onChange={() => toggle(user)}
    />
  );
}

interface SelectionBarProps extends Selection {
  /** The list from which the users are selected. */
  readonly pages: Pages<User>;
}

/** How many users are selected, and what can be done to them. */
export function SelectionBar({ selected, toggle, select, pages }: SelectionBarProps) {
  const [deed, setDeed] = useState<ManyDeed>();
  const { rows = [] } = pages;
  const others = rows.filter((user) => !isOwn(user));
  const all = others.slice(0, mostSelected);
  const onDone = (user: User, left: User | undefined) => {
    toggle(user);
    pages.update(({ data, ...page }) => ({
      ...page,
      data: data.flatMap((each) => (each.id === user.id ? (left ?? []) : each)),
    }));
  };
  return (
    <div class="row">
      {all.length > 0 && (
        <button type="button" class="small" onClick={() => select(all)}>
          {others.length === 1
            ? 'Select the one shown'
            : `Select ${all.length < others.length ? 'the first' : 'all'} ${all.length} shown`}
        </button>
      )}
      {selected.length > 0 && (
        <div class="floating notice row">
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
        </div>
      )}
      {deed && <Many {...deed} users={selected} onDone={onDone} close={() => setDeed(undefined)} />}
    </div>
  );
}

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

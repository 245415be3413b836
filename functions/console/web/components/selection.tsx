import { useState } from 'preact/hooks';
import type { User } from '../../../client/paths.ts';
import { settings } from '../api.ts';
import { counted } from '../format.ts';
import type { Pages } from '../loading.ts';
import { Button } from './button.tsx';
import { openDialog } from './dialog.tsx';
import { Many, type ManyDeed, mostSelected } from './many.tsx';
import { deleteUser, isOwn, setSuspended, suspension } from './profile.tsx';

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

/** Selects a user of a list. Users cannot select themselves, because the actions do not apply to oneself. */
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
  readonly pages: Pages<User>;
}

export function SelectionBar({ selected, toggle, select, pages }: SelectionBarProps) {
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
        <Button class="small" onClick={() => select(all)}>
          {others.length === 1
            ? 'Select the one shown'
            : `Select ${all.length < others.length ? 'the first' : 'all'} ${all.length} shown`}
        </Button>
      )}
      {selected.length > 0 && (
        <div class="floating notice row">
          <span role="status">{counted(selected.length, 'user')} selected</span>
          {deeds.map((each) => (
            <Button
              key={each.title}
              class="danger small"
              onClick={() => openDialog(<Many {...each} users={selected} onDone={onDone} />)}
            >
              {each.title}
            </Button>
          ))}
          <Button class="quiet small" onClick={() => select([])}>
            Select none
          </Button>
        </div>
      )}
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

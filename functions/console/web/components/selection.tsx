import { useRef, useState } from 'preact/hooks';
import type { User } from '../../../client/paths.ts';
import { settings } from '../api.ts';
import { counted } from '../format.ts';
import type { Pages } from '../loading.ts';
import { Many } from '../screens/on-demand.tsx';
import { Button } from './button.tsx';
import { Dialog, openDialog } from './dialog.tsx';
import type { ManyDeed } from './many.tsx';
import { deleteUser, isOwn, setSuspended, suspension } from './profile.tsx';

/** The most users who are selected. */
export const mostSelected = 100;

export interface Selection {
  readonly selected: readonly User[];
  /** Selects a user, or no longer. @param isRange whether this applies to all users from the one before */
  readonly toggle: (user: User, isRange?: boolean) => void;
  readonly select: (users: readonly User[]) => void;
}

/** @param rows the users of the list, in its order */
export function useSelection(rows: readonly User[]): Selection {
  const [selected, select] = useState<readonly User[]>([]);
  const last = useRef(0);
  const toggle = (user: User, isRange = false) => {
    const placeOf = (sought: number) => rows.findIndex(({ id }) => id === sought);
    const [from, to] = [placeOf(last.current), placeOf(user.id)];
    const [first, end] = [Math.min(from, to), Math.max(from, to)];
    const range =
      isRange && first >= 0 ? rows.slice(first, end + 1).filter((each) => !isOwn(each)) : [user];
    last.current = user.id;
    select((before) => {
      const others = before.filter((each) => !range.some(({ id }) => id === each.id));
      const isOff = before.some(({ id }) => id === user.id);
      return isOff ? others : [...others, ...range].slice(0, mostSelected);
    });
  };
  return { selected, toggle, select };
}

const notOneself = 'You cannot select yourself';

/** Selects a user of a list. Users cannot select themselves, because the actions do not apply to oneself. */
export function SelectionBox({ user, selected, toggle }: Selection & { user: User }) {
  return (
    <input
      type="checkbox"
      // The name is in the link beside it.
      aria-label={isOwn(user) ? notOneself : `Select #${user.id}`}
      title={isOwn(user) ? notOneself : undefined}
      checked={selected.some(({ id }) => id === user.id)}
      disabled={isOwn(user)}
      onClick={({ shiftKey }) => toggle(user, shiftKey)}
    />
  );
}

export function SelectionBar({
  selected,
  toggle,
  select,
  pages,
}: Selection & { pages: Pages<User> }) {
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
  const ask = (deed: ManyDeed) =>
    openDialog(
      <Dialog title={`${deed.title} ${counted(selected.length, 'user')}`}>
        <Many {...deed} users={selected} onDone={onDone} />
      </Dialog>,
    );
  return (
    <div class="row">
      {all.length > 0 && (
        <Button class="small" onClick={() => select(all)}>
          {all.length === 1
            ? `Select ${rows.length > 1 ? `1 of ${rows.length}` : 'the one shown'}`
            : `Select ${all.length < others.length ? 'the first' : 'all'} ${all.length} shown`}
        </Button>
      )}
      {selected.length > 0 && (
        <div class="floating notice row">
          <span role="status">{counted(selected.length, 'user')} selected</span>
          {deeds.map((each) => (
            <Button key={each.title} class="danger small" onClick={() => ask(each)}>
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

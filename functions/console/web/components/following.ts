/** Looks for new entries while the page is visible. */
import { useEffect, useState } from 'preact/hooks';
import type { AuditEntry } from '../../../client/paths.ts';
import { counted } from '../format.ts';
import { useAction, useEvery } from '../loading.ts';
import { merge, newOf, rereadFrom } from '../trail/follow.ts';
import type { TrailState } from '../trail/query.ts';
import { readAll } from '../trail/read.ts';
import type { Whole } from '../trail/whole.ts';
import { announce } from './notice.tsx';

/** Milliseconds between two looks. */
const pause = 5000;

/** Whether new entries must wait, so that nothing moves under the pointer, from the focus or behind open details. */
const isLookedAt = (): boolean =>
  document.querySelector('.trail:is(:hover, :focus-within), dialog[open]') !== null;

/** Looks for new entries while following is on. `show` shows the entries that wait. */
export const useFollowing = (state: TrailState, { data: shown, isBusy, update }: Whole) => {
  const [waiting, setWaiting] = useState<readonly AuditEntry[]>([]);
  const show = (found = waiting) => {
    setWaiting([]);
    update((part) => merge(part, found));
  };
  const look = useAction(async () => {
    if (!shown || isBusy) return;
    const { data: all } = await readAll({ ...state, since: rereadFrom(shown, state.since) });
    const found = newOf(shown, all);
    if (found.length > waiting.length) announce(counted(found.length, 'new entry', 'new entries'));
    if (found.length === 0 || isLookedAt()) setWaiting(found);
    else show(found);
  });
  const isOn = state.follow === 'on';
  useEvery(pause, () => void (document.hidden || look.run()), isOn);
  useEffect(() => () => setWaiting([]), [isOn]);
  return { waiting: waiting.length, failure: isOn ? look.failure : undefined, show };
};

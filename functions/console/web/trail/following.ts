/** Looking for new entries, while the page is seen. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { announce } from '../components/notice.tsx';
import type { AuditEntry } from '../contract.d.ts';
import { counted } from '../format.ts';
import { type Pages, useAction } from '../loading.ts';
import { maxRows, merge, pause, rereadFrom } from './follow.ts';
import type { TrailState } from './query.ts';
import { readAll } from './read.ts';

/** Nothing moves under the pointer, nor away from the focus, nor behind open details. */
const isLookedAt = (): boolean =>
  document.querySelector('.trail:is(:hover, :focus-within), dialog[open]') !== null;

/** Looks for new entries while it is on. Those that wait are shown by `show`. */
export const useFollowing = (state: TrailState, pages: Pages<AuditEntry>) => {
  const [waiting, setWaiting] = useState(0);
  const rows = useRef(pages.rows);
  rows.current = pages.rows;
  const look = useAction(async (mayMove: () => boolean) => {
    const shown = rows.current;
    if (!shown) return;
    const found = await readAll({ ...state, since: rereadFrom(shown, state.since) });
    const { added } = merge(shown, found);
    if (added > 0) announce(counted(added, 'new entry', 'new entries'));
    setWaiting(mayMove() ? 0 : added);
    if (added === 0 || !mayMove()) return;
    pages.update(({ next, data }) => {
      const merged = merge(data, found).rows;
      // Where older entries were dropped, the next page would leave a gap.
      const isWhole = data.length + added <= maxRows;
      return { data: merged, ...(isWhole && next ? { next } : {}) };
    });
  });
  const run = useRef(look.run);
  run.current = look.run;
  const isOn = state.follow === 'on';
  useEffect(() => {
    if (!isOn) return undefined;
    setWaiting(0);
    const timer = setInterval(() => {
      if (!document.hidden) void run.current(() => !isLookedAt());
    }, pause);
    return () => clearInterval(timer);
  }, [isOn]);
  return { waiting, failure: isOn ? look.failure : undefined, show: () => look.run(() => true) };
};

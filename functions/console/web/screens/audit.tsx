import { useEffect, useRef, useState } from 'preact/hooks';
import { Entries } from '../components/entries.tsx';
import { Export } from '../components/export.tsx';
import { Filters, showTrail } from '../components/filters.tsx';
import { Histogram } from '../components/histogram.tsx';
import { announce, FailureNotice } from '../components/notice.tsx';
import { Screen } from '../components/screen.tsx';
import { forgetNames } from '../components/user-name.tsx';
import type { AuditEntry } from '../contract.d.ts';
import { counted } from '../format.ts';
import { type Pages, useAction, usePages } from '../loading.ts';
import { place } from '../router.ts';
import { maxRows, merge, pause, rereadFrom } from '../trail/follow.ts';
import { readState, type TrailState, withChanges } from '../trail/query.ts';
import { readAll, readPage } from '../trail/read.ts';

/** Nothing moves under the pointer, nor away from the focus, nor behind open details. */
const isLookedAt = (): boolean =>
  document.querySelector('.trail:is(:hover, :focus-within), dialog[open]') !== null;

/** Looks for new entries while it is on. Those that wait are shown by `show`. */
const useFollowing = (state: TrailState, pages: Pages<AuditEntry>) => {
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

/** The audit trail: its query, all of which is in the address bar. */
export const Audit = () => {
  const state = readState(place.use().query);
  const { follow, ...filters } = state;
  const pages = usePages(JSON.stringify(filters), (next) => readPage(state, next));
  const { waiting, failure, show } = useFollowing(state, pages);
  const [isExporting, setExporting] = useState(false);
  useEffect(() => forgetNames, []);
  const { rows = [] } = pages;
  const isFull = rows.length >= maxRows;
  const change = (changes: Partial<TrailState>) => showTrail(withChanges(state, changes));
  return (
    <Screen
      title="Audit"
      actions={
        <>
          <button
            type="button"
            aria-pressed={follow === 'on'}
            onClick={() => change({ follow: follow ? '' : 'on' })}
          >
            Follow
          </button>
          <button type="button" onClick={() => setExporting(true)}>
            Export
          </button>
        </>
      }
    >
      <Filters state={state} />
      {follow && (
        <p class="following">
          Following: looks for new entries every five seconds.
          {waiting > 0 && (
            <button type="button" class="small" onClick={show}>
              Show {counted(waiting, 'new entry', 'new entries')}
            </button>
          )}
        </p>
      )}
      <FailureNotice what="New entries could not be loaded" failure={failure} />
      <div class="trail">
        {rows.length > 0 && (
          <Histogram entries={rows} narrow={({ from, until }) => change({ since: from, until })} />
        )}
        <Entries
          pages={{ ...pages, more: isFull ? undefined : pages.more }}
          caption="Entries of the audit trail"
          empty="No entry matches the filters. Widen the time, or clear a filter."
        />
      </div>
      {isFull && (
        <p class="muted">
          {counted(maxRows, 'entry', 'entries')} are shown at most. Narrow the time, or export them.
        </p>
      )}
      {isExporting && <Export state={state} close={() => setExporting(false)} />}
    </Screen>
  );
};

import { useMemo, useState } from 'preact/hooks';
import type { AuditEntry } from '../contract.d.ts';
import { counted, timeOf } from '../format.ts';
import { type Bar, barsOf } from '../trail/histogram.ts';
import { Badge, Time } from './text.tsx';

const range = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

const rangeOf = ({ from, until }: Bar): string =>
  range.formatRange(new Date(from), new Date(until));

const titleOf = (bar: Bar): string =>
  `${rangeOf(bar)}: ${counted(bar.success + bar.failure, 'entry', 'entries')}, ${counted(bar.failure, 'failure')}`;

/** Arrows lead from bar to bar, so that Tab needs one step for all of them. */
const move = (event: KeyboardEvent): void => {
  const { key, currentTarget, target } = event;
  const step = key === 'ArrowRight' ? 1 : key === 'ArrowLeft' ? -1 : 0;
  if (!(currentTarget instanceof Element) || !(target instanceof HTMLElement) || !step) return;
  const bars = [...currentTarget.querySelectorAll('button')];
  const next = bars[bars.indexOf(target as HTMLButtonElement) + step];
  next?.focus();
  event.preventDefault();
};

const percent = (count: number, most: number): string => `${(100 * count) / most}%`;

interface HistogramProps {
  readonly entries: readonly AuditEntry[];
  readonly narrow: (time: Pick<Bar, 'from' | 'until'>) => void;
}

/** The loaded entries by time and result. A bar narrows the query to its time. */
export const Histogram = ({ entries, narrow }: HistogramProps) => {
  const bars = useMemo(() => {
    const newest = entries.map(({ created_at }) => timeOf(created_at)).find((time) => time >= 0);
    const zone = newest ? new Date(newest).getTimezoneOffset() : 0;
    return barsOf(entries, -zone * 60_000);
  }, [entries]);
  const [focused, setFocused] = useState('');
  const most = bars.reduce((sum, { success, failure }) => Math.max(sum, success + failure), 1);
  const full = bars.filter(({ success, failure }) => success + failure > 0);
  const inTabOrder = full.find(({ from }) => from === focused) ?? full[0];
  const [oldest, newest] = [bars[0], bars.at(-1)];
  if (!oldest || !newest) return null;
  return (
    <figure class="histogram" style={{ maxWidth: `max(24rem, ${3 * bars.length}rem)` }}>
      <figcaption class="row muted">
        By time, of {counted(entries.length, 'loaded entry', 'loaded entries')}
        <Badge kind="good">Success</Badge>
        <Badge kind="bad">Failure</Badge>
      </figcaption>
      <div role="toolbar" aria-label="Entries by time" class="bars" onKeyDown={move}>
        {bars.map((bar) =>
          full.includes(bar) ? (
            <button
              key={bar.from}
              type="button"
              tabIndex={bar === inTabOrder ? 0 : -1}
              aria-label={titleOf(bar)}
              title={titleOf(bar)}
              onFocus={() => setFocused(bar.from)}
              onClick={() => narrow(bar)}
            >
              <span class="bad" style={{ height: percent(bar.failure, most) }} />
              <span class="good" style={{ height: percent(bar.success, most) }} />
            </button>
          ) : (
            <span key={bar.from} />
          ),
        )}
      </div>
      <p class="row apart muted">
        <Time at={oldest.from} /> <Time at={newest.until} />
      </p>
    </figure>
  );
};

import type { ComponentChildren, TargetedKeyboardEvent } from 'preact';
import type { AuditEntry } from '../../../client/paths.ts';
import { counted, localDay, localRange, localTime, timeOf } from '../format.ts';
import { type Bar, type Bounds, barsOf, narrowed, type Span } from '../trail/histogram.ts';
import { Button } from './button.tsx';
import { Time } from './text.tsx';

const titleOf = ({ from, until, success, failure }: Bar): string =>
  `${localRange(from, until)}: ${counted(success + failure, 'entry', 'entries')}, ${counted(failure, 'failure')}`;

/** If a chart covers at least this many milliseconds, the labels of its ends are days without times. */
const long = 2 * 86_400_000;

/** Arrow keys move the focus from bar to bar, so that Tab needs one step for all bars. */
const move = ({ key, currentTarget }: TargetedKeyboardEvent<HTMLDivElement>): void => {
  const bars = [...currentTarget.querySelectorAll('button')];
  const at = bars.indexOf(document.activeElement as HTMLButtonElement);
  if (key === 'ArrowRight') bars[at + 1]?.focus();
  if (key === 'ArrowLeft') bars[at - 1]?.focus();
};

interface HistogramProps {
  readonly entries: readonly AuditEntry[];
  /** The title, and the meaning of the colours. */
  readonly caption: ComponentChildren;
  /** Absent: from the first to the last entry. */
  readonly bounds?: Bounds;
  readonly narrow: (time: Span) => void;
}

/** Entries by time and result. A bar narrows the query to the entries that it counts. */
export const Histogram = ({ entries, caption, bounds, narrow }: HistogramProps) => {
  const bars = barsOf(entries, (time) => new Date(time).getTimezoneOffset() * 60, bounds);
  const most = Math.max(1, ...bars.map(({ success, failure }) => success + failure));
  const [oldest, newest] = [bars[0], bars.at(-1)];
  const first = bars.find(({ success, failure }) => success + failure > 0);
  if (!oldest || !newest) return null;
  const write = timeOf(newest.until) - timeOf(oldest.from) < long ? localTime : localDay;
  const part = (kind: 'good' | 'bad', count: number) => (
    <span class={kind} style={{ height: `${(100 * count) / most}%` }} />
  );
  return (
    <figure>
      <figcaption class="row apart muted">{caption}</figcaption>
      <div role="toolbar" aria-label="By time" class="bars" onKeyDown={move}>
        {bars.map((bar) =>
          bar.success + bar.failure > 0 ? (
            <Button
              key={bar.from}
              tabIndex={bar === first ? 0 : -1}
              aria-label={titleOf(bar)}
              title={titleOf(bar)}
              onClick={() => narrow(narrowed(bar, entries))}
            >
              {part('bad', bar.failure)}
              {part('good', bar.success)}
            </Button>
          ) : (
            <span key={bar.from} />
          ),
        )}
      </div>
      <p class="row apart muted">
        <Time at={oldest.from} write={write} /> <Time at={newest.until} write={write} />
      </p>
    </figure>
  );
};

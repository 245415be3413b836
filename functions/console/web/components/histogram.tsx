import type { ComponentChildren, TargetedKeyboardEvent } from 'preact';
import { useState } from 'preact/hooks';
import type { AuditEntry } from '../../../client/paths.ts';
import { counted, grouped, localDay, localRange, localTime, timeOf } from '../format.ts';
import { now } from '../service.ts';
import { type Bar, type Bounds, barsOf, narrowed, type Span, topOf } from '../trail/histogram.ts';
import { Button } from './button.tsx';
import { Time } from './text.tsx';

type Counts = Pick<Bar, 'success' | 'failure'>;

const countOf = ({ success, failure }: Counts): number => success + failure;

/** Such as `12 entries, 3 failures`. */
const valuesOf = (bar: Counts): string =>
  counted(countOf(bar), 'entry', 'entries') +
  (bar.failure > 0 ? `, ${counted(bar.failure, 'failure')}` : '');

/** If a chart covers at least this many milliseconds, the labels of its ends are days without times. */
const long = 2 * 86_400_000;

/** Moves the focus from bar to bar, so that Tab needs one step for all bars. */
const move = (event: TargetedKeyboardEvent<HTMLDivElement>): void => {
  const bars = [...event.currentTarget.querySelectorAll('button')];
  const at = bars.indexOf(document.activeElement as HTMLButtonElement);
  const steps = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: bars.length - 1 };
  const to = steps[event.key as keyof typeof steps];
  if (to === undefined) return;
  event.preventDefault();
  bars[to]?.focus();
};

/** The values of a bar, which are shown below the bar. @param place of its middle, from 0 to 1 */
const Values = ({ bar, place }: { bar: Bar; place: number }) => (
  <span
    class="values"
    aria-hidden="true"
    style={{ left: `${100 * place}%`, translate: `${-100 * place}%` }}
  >
    <strong>{valuesOf(bar)}</strong> {localRange(bar.from, bar.until)}
  </span>
);

interface PlotProps {
  readonly bars: readonly Bar[];
  readonly choose: (bar: Bar) => void;
}

/** The bars with both axes. The values of the bar that has the pointer or the focus are shown, until Esc. */
const Plot = ({ bars, choose }: PlotProps) => {
  const [shown, show] = useState<number>();
  const [most] = bars.toSorted((a, b) => countOf(b) - countOf(a));
  const first = bars.find((bar) => countOf(bar) > 0);
  const [oldest, newest] = [bars[0], bars.at(-1)];
  const bar = shown === undefined ? undefined : bars[shown];
  if (!oldest || !newest || !most) return null;
  const top = topOf(countOf(most));
  const sumOf = (kind: 'success' | 'failure') => bars.reduce((sum, each) => sum + each[kind], 0);
  const all = { success: sumOf('success'), failure: sumOf('failure') };
  // The last bar may reach into the future.
  const end = [newest.until, new Date(now()).toISOString()].sort()[0] ?? '';
  const write = timeOf(newest.until) - timeOf(oldest.from) < long ? localTime : localDay;
  const part = (kind: 'good' | 'bad', count: number) =>
    count > 0 && <span class={kind} style={{ height: `${(100 * count) / top}%` }} />;
  return (
    <div class="plot">
      <p class="axis muted" aria-hidden="true">
        {[top, top / 2, 0].map((value) => (
          <span key={value}>{grouped(value)}</span>
        ))}
      </p>
      <div
        role="toolbar"
        aria-label={`By time: ${valuesOf(all)}, most in ${localRange(most.from, most.until)}`}
        class="bars"
        onKeyDown={(event) => (event.key === 'Escape' ? show(undefined) : move(event))}
        onPointerLeave={() => show(undefined)}
        onFocusOut={() => show(undefined)}
      >
        {bars.map((each, index) => {
          const onPointerEnter = () => show(index);
          return countOf(each) > 0 ? (
            <Button
              key={each.from}
              tabIndex={each === first ? 0 : -1}
              aria-label={`${localRange(each.from, each.until)}: ${valuesOf(each)}`}
              onClick={() => choose(each)}
              onFocus={onPointerEnter}
              onPointerEnter={onPointerEnter}
            >
              {part('bad', each.failure)}
              {part('good', each.success)}
            </Button>
          ) : (
            <span key={each.from} onPointerEnter={onPointerEnter} />
          );
        })}
      </div>
      <p class="row apart muted">
        <Time at={oldest.from} write={write} /> <Time at={end} write={write} />
        {bar && shown !== undefined && <Values bar={bar} place={(shown + 0.5) / bars.length} />}
      </p>
    </div>
  );
};

interface HistogramProps {
  readonly entries: readonly AuditEntry[];
  /** The title, and the meaning of the colours. */
  readonly caption?: ComponentChildren;
  /** Absent: from the first to the last entry. */
  readonly bounds?: Bounds;
  readonly narrow: (time: Span) => void;
}

/** Entries by time and result. A bar narrows the query to the entries that it counts. */
export const Histogram = ({ entries, caption, bounds, narrow }: HistogramProps) => (
  <figure>
    {caption && <figcaption class="row apart muted">{caption}</figcaption>}
    <Plot
      bars={barsOf(entries, (time) => new Date(time).getTimezoneOffset() * 60, bounds)}
      choose={(bar) => narrow(narrowed(bar, entries))}
    />
  </figure>
);

import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { counted } from '../format.ts';
import type { Loading, Pages } from '../loading.ts';
import { announce, FailureNotice, Loaded } from './notice.tsx';

export interface Column<Row> {
  readonly title: string;
  /** @param number of the row, by which buttons in equal rows have names of their own */
  readonly cell: (row: Row, number: number) => ComponentChildren;
  readonly class?: string;
  /** Whether its buttons say what the title says, which is then for screen readers alone. */
  readonly isSaid?: boolean;
}

interface TableProps<Row> {
  /** The title of the table, for screen readers. */
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string | number;
  /** The content if there are no rows; it says what to do. */
  readonly empty: ComponentChildren;
  /** Whether each row is a line that is cut where the table has too little room, and never a card. */
  readonly isOfLines?: boolean;
}

/** Turns rows into cards while the table, whose width depends on its content, is wider than its container. */
const keepFitting = (place: HTMLElement, table: HTMLElement) => {
  let needed = 0;
  const arrange = () => {
    if (!place.classList.contains('cards')) needed = table.offsetWidth;
    place.classList.toggle('cards', needed > place.clientWidth);
  };
  arrange();
  // In the next frame, because an observer must not change the size of the elements that it observes.
  const observer = new ResizeObserver(() => requestAnimationFrame(arrange));
  for (const each of [place, table]) observer.observe(each);
  return () => observer.disconnect();
};

/**
 * A table. Where it has too little room each row is a card, whose cells carry the titles of their
 * columns. The roles are named, because cards would lose them.
 */
export const Table = <Row,>(props: TableProps<Row>) => {
  const { caption, columns, rows, keyOf, empty, isOfLines = false } = props;
  const place = useRef<HTMLDivElement>(null);
  const isEmpty = rows.length === 0;
  useLayoutEffect(() => {
    const table = place.current?.querySelector('table');
    return place.current && table && !isOfLines ? keepFitting(place.current, table) : undefined;
  }, [isEmpty]);
  if (isEmpty) return <div class="empty">{empty}</div>;
  return (
    <div class={`table ${isOfLines ? 'lines' : ''}`} ref={place}>
      <table role="table">
        <caption class="unseen">{caption}</caption>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map((column) => (
              <th key={column.title} role="columnheader" scope="col" class={column.class}>
                {column.isSaid ? <span class="unseen">{column.title}</span> : column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((row, index) => (
            <tr key={keyOf(row)} role="row">
              {columns.map((column) => (
                <td
                  key={column.title}
                  role="cell"
                  class={column.class}
                  data-title={column.isSaid ? '' : column.title}
                >
                  {column.cell(row, index + 1)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
};

export const LoadedTable = <Row,>({
  from,
  ...table
}: Omit<TableProps<Row>, 'rows'> & { from: Loading<readonly Row[]> }) => (
  <Loaded what={`The ${table.caption.toLowerCase()}`} from={from}>
    {(rows) => <Table {...table} rows={rows} />}
  </Loaded>
);

interface PagesTableProps<Row> extends Omit<TableProps<Row>, 'rows'> {
  readonly pages: Omit<Pages<Row>, 'data' | 'update'>;
  /** The noun for one row and for several rows, such as `user` and `users`. */
  readonly things: readonly [one: string, several: string];
}

/** A table of a list that is loaded page by page, as the user scrolls or asks for more. */
export const PagesTable = <Row,>({ pages, things, ...table }: PagesTableProps<Row>) => {
  const { rows, more } = pages;
  const button = useRef<HTMLButtonElement>(null);
  const asked = useRef<number | undefined>(undefined);
  const run = useRef(more?.run);
  run.current = more?.run;
  useEffect(() => {
    if (rows) announce(`${counted(rows.length, ...things)} shown.`);
    const { current } = button;
    const row =
      asked.current !== undefined && document.querySelectorAll('main tbody tr')[asked.current];
    if (row) row.querySelector<HTMLElement>('a, button')?.focus();
    if (row) asked.current = undefined;
    if (!current) return undefined;
    const observer = new IntersectionObserver((events) => {
      // The last event counts: a busy browser reports several at once. Whoever has reached the button presses it.
      if (events.at(-1)?.isIntersecting && document.activeElement !== current) run.current?.();
    });
    observer.observe(current);
    return () => observer.disconnect();
  }, [rows]);
  const ask = () => {
    // The focus goes to the first new row.
    asked.current = rows?.length;
    return more?.run();
  };
  const what = `The ${things[1]}`;
  return (
    <>
      <Loaded what={what} from={{ ...pages, data: rows }}>
        {(loaded) => <Table {...table} rows={loaded} />}
      </Loaded>
      {more && (
        <>
          <FailureNotice
            what={`${what} could not be loaded`}
            failure={more.failure}
            retry={more.run}
          />
          <button type="button" ref={button} aria-busy={more.isBusy} onClick={ask}>
            Show more {things[1]}
          </button>
        </>
      )}
    </>
  );
};

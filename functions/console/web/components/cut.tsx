import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { grouped } from '../format.ts';
import { Button } from './button.tsx';

/** The rows of a list that are shown at first. */
const first = 5;

interface CutProps<Row> {
  readonly rows: readonly Row[];
  /** The place that shows all. Absent: a button shows them here. */
  readonly all?: string;
  readonly children: (rows: readonly Row[]) => ComponentChildren;
}

/** A list that is cut after its first rows, and leads to all of them. */
export const Cut = <Row,>({ rows, all, children }: CutProps<Row>) => {
  const [isWhole, setWhole] = useState(false);
  const text = `All ${grouped(rows.length)}`;
  return (
    <>
      {children(isWhole ? rows : rows.slice(0, first))}
      {rows.length > first && (
        <p>
          {all ? (
            <a class="button small" href={all}>
              {text}
            </a>
          ) : (
            <Button class="small" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
              {isWhole ? `The first ${first}` : text}
            </Button>
          )}
        </p>
      )}
    </>
  );
};

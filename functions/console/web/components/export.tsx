import { useRef, useState } from 'preact/hooks';
import { counted } from '../format.ts';
import { csvPart } from '../trail/csv.ts';
import type { TrailState } from '../trail/query.ts';
import { exportForms, readText } from '../trail/read.ts';
import { useWalk } from '../walk.ts';
import { Dialog } from './dialog.tsx';
import { Select } from './form.tsx';
import { FailureNotice, Notice } from './notice.tsx';

type Form = keyof typeof exportForms;

const partOf = (form: Form, page: string, isFirst: boolean) =>
  form === 'csv' ? csvPart(page, isFirst) : { text: page, count: page.split('\n').length - 1 };

/** Has the browser download a file. */
const download = (form: Form, parts: readonly Blob[]): void => {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([...parts], { type: exportForms[form] }));
  link.download = `audit-${new Date().toISOString().slice(0, 16).replace(':', '')}.${form}`;
  link.click();
  // The browser has begun to read by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
};

/** Downloads all entries of a query, page by page. */
export const Export = ({ state, close }: { state: TrailState; close: () => void }) => {
  const [form, setForm] = useState<Form>('csv');
  const [count, setCount] = useState(0);
  const parts = useRef<Blob[]>([]);
  const walk = useWalk(
    (next, signal) => readText(form, state, { next, signal }),
    (page, isLast) => {
      const part = partOf(form, page, parts.current.length === 0);
      // A blob lies outside of the memory of the page.
      parts.current.push(new Blob([part.text]));
      setCount((before) => before + part.count);
      if (isLast) download(form, parts.current);
      return true;
    },
  );
  const begin = () => {
    parts.current = [];
    setCount(0);
    walk.reset();
    walk.start();
  };
  const entries = counted(count, 'entry', 'entries');
  const isStopped = walk.state === 'stopped';
  return (
    <Dialog title="Export entries" close={close}>
      <p class="muted">
        All entries that the filters let through, also those that are not loaded. Each page of 1,000
        leaves an EXPORT entry in the trail.
      </p>
      {walk.state === 'ready' ? (
        <Select
          label="Format"
          value={form}
          onValue={setForm}
          options={{ csv: 'CSV, for spreadsheets', ndjson: 'NDJSON, for programs' }}
        />
      ) : (
        walk.state !== 'done' && (
          <>
            <progress aria-label="Export" value={isStopped ? 0 : undefined} />
            <p>{isStopped ? `Stopped after ${entries}.` : `${entries} so far…`}</p>
          </>
        )
      )}
      {walk.state === 'done' && <Notice kind="success">{entries} were downloaded.</Notice>}
      <FailureNotice what="A page could not be loaded" failure={walk.failure} />
      <div class="actions">
        {walk.state === 'ready' && (
          <button type="button" class="primary" onClick={begin}>
            Export
          </button>
        )}
        {walk.state === 'running' && (
          <button type="button" onClick={walk.stop}>
            Stop
          </button>
        )}
        {isStopped && (
          <>
            <button type="button" class="primary" onClick={walk.start}>
              Go on
            </button>
            <button type="button" onClick={() => download(form, parts.current)}>
              Save these {entries}
            </button>
          </>
        )}
      </div>
    </Dialog>
  );
};

import { useEffect, useRef, useState } from 'preact/hooks';
import { counted } from '../format.ts';
import { now } from '../service.ts';
import { keepPassing } from '../trail/keep.ts';
import type { TrailState } from '../trail/query.ts';
import { type ExportForm, exportForms, readText } from '../trail/read.ts';
import { FormDialog, Select } from './form.tsx';
import { tell } from './notice.tsx';

const download = (form: ExportForm, parts: Blob[]): void => {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob(parts, { type: exportForms[form] }));
  link.download = `audit-${new Date(now()).toISOString().slice(0, 16).replace(':', '')}.${form}`;
  link.click();
  // The browser has begun to read by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
};

interface Read {
  readonly form: ExportForm;
  /** Blobs are kept outside the memory of the page. */
  readonly parts: readonly Blob[];
  readonly next?: string;
}

/** Downloads all entries of a query, page by page. After a failure it resumes at the page that failed. */
export const Export = ({ state }: { state: TrailState }) => {
  const [read, setRead] = useState<Read>();
  const abort = useRef(new AbortController());
  useEffect(() => () => abort.current.abort(), []);
  const act = async ({ form }: { form: ExportForm }) => {
    let all: Read = read ?? { form, parts: [] };
    do {
      const page = await readText(all, state, abort.current.signal);
      // One header is enough.
      const text = keepPassing(page.data, all.form, state);
      const rest = all.next && all.form === 'csv' ? text.indexOf('\r\n') + 2 : 0;
      const parts = [...all.parts, new Blob([text.slice(rest)])];
      all = { form: all.form, parts, ...(page.next && { next: page.next }) };
      setRead(all);
    } while (all.next);
    download(all.form, [...all.parts]);
    tell('The entries are downloaded.');
  };
  return (
    <FormDialog
      title="Export entries"
      act={act}
      failed="A page could not be loaded"
      submit={read ? 'Go on' : 'Export'}
      isQuery
    >
      <p class="muted">
        All entries that match the filters, whether they are loaded or not. Each page of 1,000
        leaves an EXPORT entry in the trail.
      </p>
      {read ? (
        <p role="status">{counted(read.parts.length, 'page')} so far…</p>
      ) : (
        <Select
          label="Format"
          name="form"
          options={{ csv: 'CSV, for spreadsheets', ndjson: 'NDJSON, for programs' }}
        />
      )}
    </FormDialog>
  );
};

/** Compares an entry with its sealed line, and shows the fields that differ. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { AuditEntry, ComparedAuditEntry } from '../../../client/paths.ts';
import { api, sendUnless } from '../api.ts';
import { useLoad } from '../loading.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { EntryFields } from './entry-fields.tsx';
import { Loaded } from './notice.tsx';
import { type Column, Table } from './table.tsx';
import { Badge } from './text.tsx';

interface EntryProps {
  readonly id: number;
}

/** In the dialog of an entry. @param isAsked whether it is compared at once, because a check has found it */
export const SealOfEntry = ({ id, isAsked }: EntryProps & { readonly isAsked: boolean }) => {
  const [asked, ask] = useState(isAsked);
  if (asked) return <Answered id={id}>{() => null}</Answered>;
  return (
    <p>
      <Button onClick={() => ask(true)}>Compare with the seal</Button>
    </p>
  );
};

/** The dialog of an entry that the trail does not show, such as a deleted one. */
export const SealedEntry = ({ id }: EntryProps) => (
  <Dialog title={`Entry ${id}`}>
    <Answered id={id}>
      {({ stored, sealed }) => {
        const entry = stored ?? sealed;
        // Somebody may have changed the types of its fields, which are shown as text.
        return entry && <EntryFields entry={entry as AuditEntry} />;
      }}
    </Answered>
  </Dialog>
);

interface AnswerProps {
  readonly answer: ComparedAuditEntry;
}

interface AnsweredProps extends EntryProps {
  /** The rest, below the answer. */
  readonly children: (answer: ComparedAuditEntry) => ComponentChildren;
}

const Answered = ({ id, children }: AnsweredProps) => {
  const loaded = useLoad(`seal of ${id}`, () => readAnswer(id));
  return (
    <section class="stack" aria-label="Seal of this entry">
      <Loaded what="The seal of this entry" from={loaded}>
        {(answer) =>
          answer ? (
            <>
              <Saying answer={answer} />
              <Differences answer={answer} />
              {children(answer)}
            </>
          ) : (
            <p>Neither the trail nor the archive of its seal has an entry with this id.</p>
          )
        }
      </Loaded>
    </section>
  );
};

const readAnswer = async (id: number): Promise<ComparedAuditEntry | null> => {
  const params = { path: { entry: String(id) } };
  const request = api.GET('/api/admin/audit-seal/entries/{entry}', { params });
  return (await sendUnless('AUDIT_ENTRY_NOT_FOUND', request)) ?? null;
};

/** For each state the kind of its badge, the badge, and a sentence. */
const sayings = {
  equal: ['good', 'As sealed', 'The entry is as it was sealed.'],
  differs: ['bad', 'Tampered with', 'Since it was sealed, somebody has changed '],
  deleted: [
    'bad',
    'Deleted',
    'It was sealed, and somebody has deleted it from the trail before its time. It is shown as it was sealed.',
  ],
  inserted: [
    'bad',
    'Added',
    'The files that cover its time do not have it: somebody has added it to the trail.',
  ],
  waits: [undefined, 'Not sealed yet', 'The next run of the sealer looks at its time.'],
  left: [
    undefined,
    'No longer kept',
    'The time for which the trail or the archive keeps it has ended, so that nothing can be compared.',
  ],
  too_large: [
    undefined,
    'Not compared',
    'Its file is too large to be looked at here. verify-audit compares it.',
  ],
  not_found: [
    undefined,
    'Not compared',
    'The file that may have it is missing, is not as it was sealed, or was not found. That does not mean that the entry was not sealed: verify-audit says more.',
  ],
} as const;

const Saying = ({ answer: { state, file, fields } }: AnswerProps) => {
  const [kind, title, sentence] = sayings[state];
  return (
    <>
      <p>
        <Badge {...(kind && { kind })}>{title}</Badge>{' '}
        {file !== undefined && <span class="muted">Sealed in file {file}</span>}
      </p>
      <p>
        {sentence}
        {state === 'differs' && (fields?.length === 1 ? 'this field.' : 'these fields.')}
      </p>
    </>
  );
};

interface Difference {
  readonly field: string;
  readonly stored: string;
  readonly sealed: string;
}

const columns: readonly Column<Difference>[] = [
  { title: 'Field', cell: ({ field }) => <code>{field}</code> },
  { title: 'As sealed', cell: ({ sealed }) => <span>{sealed}</span>, class: 'name' },
  { title: 'As stored', cell: ({ stored }) => <span>{stored}</span>, class: 'name' },
];

const Differences = ({ answer: { fields = [], stored, sealed } }: AnswerProps) => {
  if (fields.length === 0) return null;
  // The service compares some fields that it does not show.
  const shown = Object.keys({ ...stored, ...sealed });
  const valueIn = (entry: ComparedAuditEntry['stored'], field: string): string =>
    shown.includes(field) ? String(entry?.[field as keyof typeof entry] ?? 'none') : 'not shown';
  return (
    <Table
      caption="What differs"
      columns={columns}
      rows={fields.map((field) => ({
        field,
        stored: valueIn(stored, field),
        sealed: valueIn(sealed, field),
      }))}
      keyOf={({ field }) => field}
      empty=""
    />
  );
};

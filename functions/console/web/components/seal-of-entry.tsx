/** What the seal says of an entry: whether it is as it was sealed, and if not, what differs. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { ApiAnswer } from '../../../client/answer.ts';
import type { AuditEntry } from '../../../client/paths.ts';
import { api, ConsoleError, send } from '../api.ts';
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
  if (!asked)
    return (
      <p>
        <Button onClick={() => ask(true)}>Compare with the seal</Button>
      </p>
    );
  return (
    <Answered id={id}>
      {(answer) => (
        <>
          <Saying answer={answer} />
          <Differences answer={answer} />
        </>
      )}
    </Answered>
  );
};

/** The dialog of an entry that the trail does not show, such as a deleted one. */
export const SealedEntry = ({ id }: EntryProps) => (
  <Dialog title={`Entry ${id}`}>
    <Answered id={id}>
      {(answer) => {
        const entry = answer.stored ?? answer.sealed;
        return (
          <>
            <Saying answer={answer} />
            <Differences answer={answer} />
            {entry && <EntryFields entry={entry} />}
          </>
        );
      }}
    </Answered>
  </Dialog>
);

interface Answer {
  readonly state: keyof typeof sayings;
  /** The fields that differ. */
  readonly fields?: readonly string[];
  readonly stored: AuditEntry | null;
  readonly sealed: AuditEntry | null;
}

interface AnswerProps {
  readonly answer: Answer;
}

interface AnsweredProps extends EntryProps {
  readonly children: (answer: Answer) => ComponentChildren;
}

const Answered = ({ id, children }: AnsweredProps) => {
  const loaded = useLoad(`seal of ${id}`, () => readAnswer(id));
  return (
    <section class="stack" aria-label="Seal of this entry">
      <Loaded what="The seal of this entry" from={loaded}>
        {children}
      </Loaded>
    </section>
  );
};

const readAnswer = async (id: number): Promise<Answer> => {
  const read = api.GET as unknown as (path: string, options: object) => Promise<ApiAnswer<Answer>>;
  try {
    return await send(read('/api/admin/audit-seal/entries/{id}', { params: { path: { id } } }));
  } catch (error) {
    if (!(error instanceof ConsoleError) || error.status !== 404) throw error;
    throw new ConsoleError('Neither the trail nor its seal has an entry with this id.', 404);
  }
};

/** A badge and a sentence for each state. */
const sayings = {
  equal: ['good', 'As sealed', 'The entry is as it was sealed.'],
  differs: ['bad', 'Changed', 'Since it was sealed, somebody has changed these fields.'],
  deleted: [
    'bad',
    'Deleted',
    'The entry was sealed, and is no longer in the trail. It is shown as it was sealed.',
  ],
  inserted: [
    'bad',
    'Added',
    'The entries of its time are sealed without it: somebody has added it afterwards.',
  ],
  waits: ['muted', 'Waits', 'The entry is newer than the newest file of the seal.'],
  left: [
    'muted',
    'No longer kept',
    'The archive no longer keeps the files of its time, so that there is nothing to compare with.',
  ],
  too_large: [
    'muted',
    'Not compared',
    'The file of the seal is too large to be read here: verify-audit compares it.',
  ],
  not_found: [
    'muted',
    'Not found',
    'The file of its time does not have it. Another file may: verify-audit reads them all.',
  ],
} as const;

const Saying = ({ answer: { state } }: AnswerProps) => {
  const [kind, title, sentence] = sayings[state] ?? ['muted', state, ''];
  return (
    <p class="row">
      <Badge {...(kind === 'muted' ? {} : { kind })}>{title}</Badge> <span>{sentence}</span>
    </p>
  );
};

interface Difference {
  readonly field: string;
  readonly stored: string;
  readonly sealed: string;
}

const columns: readonly Column<Difference>[] = [
  { title: 'Field', cell: ({ field }) => <code>{field}</code> },
  { title: 'As stored', cell: ({ stored }) => <span>{stored}</span>, class: 'name' },
  { title: 'As sealed', cell: ({ sealed }) => <span>{sealed}</span>, class: 'name' },
];

const Differences = ({ answer: { fields = [], stored, sealed } }: AnswerProps) => {
  if (fields.length === 0) return null;
  const valueIn = (entry: AuditEntry | null, field: string): string =>
    String(entry?.[field as keyof AuditEntry] ?? 'none');
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

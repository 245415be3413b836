import type { AuditEntry } from '../../../client/paths.ts';
import { shortTime } from '../format.ts';
import type { Pages } from '../loading.ts';
import { agentWord } from '../trail/agent.ts';
import { happened } from '../trail/happened.ts';
import { Button } from './button.tsx';
import { openDialog } from './dialog.tsx';
import { EntryDetails } from './entry.tsx';
import { FindingMark } from './findings.tsx';
import { type Column, PagesTable, Table } from './table.tsx';
import { Badge, Time, Whole } from './text.tsx';
import { isBy, Target, Who } from './who.tsx';

interface EntriesProps {
  readonly pages: Omit<Pages<AuditEntry>, 'data' | 'update'> | readonly AuditEntry[];
  readonly caption: string;
  readonly empty: string;
  /** The id of the user whose page shows them: only others are named. */
  readonly about?: string;
}

/** A table of entries of the trail. Each row opens all of its entry. */
export const Entries = ({ pages, about, ...texts }: EntriesProps) => {
  const columns = columnsFor(about);
  const table = { ...texts, columns, keyOf: ({ id }: AuditEntry) => id, isOfLines: true };
  if (!('rows' in pages)) return <Table {...table} rows={pages} />;
  return <PagesTable {...table} pages={pages} things={['entry', 'entries']} />;
};

const columnsFor = (about: string | undefined): readonly Column<AuditEntry>[] => [
  {
    title: 'Time',
    cell: (entry) => (
      <Button
        id={`entry-${entry.id}`}
        class="link"
        aria-label={nameOf(entry)}
        onClick={() => openDialog(<EntryDetails entry={entry} />)}
      >
        <Time at={entry.created_at} write={shortTime} />
      </Button>
    ),
    class: 'when',
  },
  { title: 'What', cell: (entry) => <What entry={entry} about={about} />, class: 'what' },
  ...(about === undefined ? [who, sourceWithAgent] : [source]),
];

/** The name of the button of an entry, by which a screen reader tells it from others of the same second. */
const nameOf = (entry: AuditEntry): string => {
  const { created_at: at, action, result, user_id: by } = entry;
  const failed = result === 'SUCCESS' ? '' : 'failed';
  return [shortTime(at), action, failed, happened(entry), by && `by #${by}`]
    .filter(Boolean)
    .join(' ');
};

const What = ({ entry, about }: { entry: AuditEntry; about: string | undefined }) => {
  const { action, result, id } = entry;
  return (
    <>
      {action}{' '}
      {result !== 'SUCCESS' && (
        <Badge kind="bad">{result === 'FAILURE' ? 'Failure' : String(result)}</Badge>
      )}{' '}
      <FindingMark id={id} /> <Target entry={entry} about={about} />{' '}
      <span class="muted">{happened(entry)}</span>
      {about !== undefined && !isBy(entry, about) && (
        <>
          {' '}
          by <Who entry={entry} />
        </>
      )}
    </>
  );
};

const who: Column<AuditEntry> = {
  title: 'Who',
  cell: (entry) => <Who entry={entry} />,
  class: 'whom',
};

const source: Column<AuditEntry> = {
  title: 'Source',
  cell: ({ ip_address: ip }) => <Whole text={String(ip ?? '')} />,
  class: 'source',
};

const sourceWithAgent: Column<AuditEntry> = {
  ...source,
  class: 'source agents',
  cell: (entry) => (
    <>
      {source.cell(entry, 0)} <span class="muted agent">{agentWord(entry.user_agent ?? '')}</span>
    </>
  ),
};

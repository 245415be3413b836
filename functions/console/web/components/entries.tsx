import type { AuditEntry } from '../../../client/paths.ts';
import { shortTime } from '../format.ts';
import type { Pages } from '../loading.ts';
import { agentWord, readableAgent } from '../trail/agent.ts';
import { happened } from '../trail/happened.ts';
import { Button } from './button.tsx';
import { openDialog } from './dialog.tsx';
import { EntryDetails } from './entry.tsx';
import { FindingMark } from './findings.tsx';
import { type Column, PagesTable, Table } from './table.tsx';
import { Badge, Time, Whole } from './text.tsx';
import { isBy, Target, Who } from './who.tsx';

interface EntriesProps {
  readonly pages: Pages<AuditEntry> | readonly AuditEntry[];
  readonly caption: string;
  readonly empty: string;
  /** The id of the user whose page shows them: only others are named, and the agents are left out. */
  readonly about?: string;
}

/** A table of entries of the trail, a line each, which opens all of the entry. */
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
      <Button class="link" onClick={() => openDialog(<EntryDetails entry={entry} />)}>
        <Time at={entry.created_at} write={shortTime} />
      </Button>
    ),
    class: 'when',
  },
  { title: 'What', cell: (entry) => <What entry={entry} about={about} />, class: 'what' },
  ...(about === undefined ? [who, source, agent] : [source]),
];

interface WhatProps {
  readonly entry: AuditEntry;
  readonly about: string | undefined;
}

const What = ({ entry, about }: WhatProps) => {
  const { action, result, id } = entry;
  const said = happened(entry);
  return (
    <div class="line">
      <span>{action}</span>
      {result !== 'SUCCESS' && (
        <Badge kind="bad">{result === 'FAILURE' ? 'Failure' : String(result)}</Badge>
      )}
      <FindingMark id={id} />
      <Target entry={entry} about={about} />
      <span class="muted" title={said}>
        {said}
      </span>
      {about !== undefined && !isBy(entry, about) && (
        <>
          <span>by</span> <Who entry={entry} />
        </>
      )}
    </div>
  );
};

const who: Column<AuditEntry> = {
  title: 'Who',
  cell: (entry) => (
    <div class="line">
      <Who entry={entry} />
    </div>
  ),
  class: 'whom',
};

const source: Column<AuditEntry> = {
  title: 'Source',
  cell: ({ ip_address: ip }) => <Whole text={String(ip ?? '')} />,
  class: 'source',
};

const agent: Column<AuditEntry> = {
  title: 'Agent',
  cell: ({ user_agent: given }) => (
    <span title={readableAgent(given ?? '')}>{agentWord(given ?? '')}</span>
  ),
  class: 'agent',
};

import { Fragment } from 'preact';
import { useState } from 'preact/hooks';
import type { AuditEntry } from '../contract.d.ts';
import { textOf, timeOf, utcTime } from '../format.ts';
import type { Pages } from '../loading.ts';
import { href } from '../router.ts';
import { readableAgent } from '../trail/agent.ts';
import { Dialog } from './dialog.tsx';
import { type Column, PagesTable } from './table.tsx';
import { Badge, CopyButton, Time } from './text.tsx';
import { UserName } from './user-name.tsx';

const Result = ({ result }: Pick<AuditEntry, 'result'>) => {
  if (result === 'SUCCESS') return <Badge kind="good">Success</Badge>;
  return <Badge kind="bad">{result === 'FAILURE' ? 'Failure' : textOf(result)}</Badge>;
};

/** What the entry is about: a user by its name. */
const Target = ({ resource, resource_id: id }: Pick<AuditEntry, 'resource' | 'resource_id'>) =>
  resource === 'users' && id !== null ? (
    <UserName id={id} />
  ) : (
    <span>{[resource, id ?? ''].map(textOf).join(' ')}</span>
  );

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** JSON on lines of its own; other text as it is. */
const readable = (details: string): string => {
  try {
    const value: unknown = JSON.parse(details);
    return isObject(value) ? JSON.stringify(value, null, 2) : details;
  } catch {
    return details;
  }
};

const Value = ({ name, entry }: { name: keyof AuditEntry; entry: AuditEntry }) => {
  const value = entry[name];
  if (value === null) return <span class="muted">none</span>;
  const text = textOf(value);
  const isUser = name === 'user_id' || (name === 'resource_id' && entry.resource === 'users');
  return (
    <>
      {name === 'details' ? <pre>{readable(text)}</pre> : <span>{text}</span>}{' '}
      <CopyButton text={text} label={`Copy ${name}`} />
      {name === 'created_at' && timeOf(value) >= 0 && (
        <p class="hint">
          <Time at={text} /> here, {utcTime(text)}
        </p>
      )}
      {isUser && (
        <p class="hint">
          <UserName id={text} isLink />
        </p>
      )}
      {name === 'user_agent' && <p class="hint">{readableAgent(text)}</p>}
    </>
  );
};

/** Every field of an entry, to look at and to copy. */
const EntryDetails = ({ entry, close }: { entry: AuditEntry; close: () => void }) => {
  const { created_at: since, user_id: userId, resource_id: resourceId } = entry;
  const time = timeOf(since);
  const until = Number.isNaN(time) ? '' : new Date(time + 1).toISOString();
  const links = [
    ['Link to this entry', { since: textOf(since), until }],
    ['All that this user did', { userId: textOf(userId ?? '') }],
    ['All that was done to it', { resourceId: textOf(resourceId ?? '') }],
  ] as const;
  return (
    <Dialog title={[entry.action, entry.resource].map(textOf).join(' ')} close={close}>
      <dl class="facts entry">
        {Object.keys(entry).map((name) => (
          <Fragment key={name}>
            <dt>{name}</dt>
            <dd>
              <Value name={name as keyof AuditEntry} entry={entry} />
            </dd>
          </Fragment>
        ))}
      </dl>
      <p class="actions">
        {links
          .filter(([, query]) => Object.values(query).every((value) => value !== ''))
          .map(([title, query]) => (
            <a key={title} href={href('/audit', query)} onClick={close}>
              {title}
            </a>
          ))}
      </p>
      <p>
        The whole entry, as JSON: <CopyButton text={JSON.stringify(entry)} label="Copy the entry" />
      </p>
    </Dialog>
  );
};

type Open = (entry: AuditEntry) => void;

const columnsFor = (open: Open): Record<string, Column<AuditEntry>> => ({
  time: {
    title: 'Time',
    cell: (entry) => (
      <button type="button" class="link" onClick={() => open(entry)}>
        <Time at={entry.created_at} />
      </button>
    ),
  },
  action: { title: 'Action', cell: ({ action }) => textOf(action), class: 'action' },
  result: { title: 'Result', cell: ({ result }) => <Result result={result} /> },
  who: { title: 'Who', cell: ({ user_id: id }) => <UserName id={id} />, class: 'name' },
  whom: { title: 'To whom', cell: (entry) => <Target {...entry} />, class: 'name' },
  source: {
    title: 'Source',
    cell: ({ ip_address: ip }) => <span class="whole">{textOf(ip ?? '')}</span>,
  },
  agent: {
    title: 'Agent',
    cell: ({ user_agent: agent }) => <span>{readableAgent(agent ?? '')}</span>,
    class: 'name',
  },
});

const allColumns = ['time', 'action', 'result', 'who', 'whom', 'source', 'agent'] as const;

interface EntriesProps {
  readonly pages: Pages<AuditEntry>;
  readonly caption: string;
  readonly empty: string;
  readonly columns?: readonly (typeof allColumns)[number][];
}

/** A table of entries of the trail, each of which opens its details. */
export const Entries = ({ columns = allColumns, ...table }: EntriesProps) => {
  const [entry, setEntry] = useState<AuditEntry>();
  const all = columnsFor(setEntry);
  return (
    <>
      <PagesTable
        {...table}
        things={['entry', 'entries']}
        columns={columns.flatMap((name) => all[name] ?? [])}
        keyOf={({ id }) => id}
      />
      {entry && <EntryDetails entry={entry} close={() => setEntry(undefined)} />}
    </>
  );
};

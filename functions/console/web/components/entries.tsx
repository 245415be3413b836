import { Fragment } from 'preact';
import type { AuditEntry } from '../../../client/paths.ts';
import { settings } from '../api.ts';
import { localTime, timeOf, utcTime } from '../format.ts';
import type { Pages } from '../loading.ts';
import { href } from '../router.ts';
import { readableAgent } from '../trail/agent.ts';
import { happened, isPosted } from '../trail/happened.ts';
import { machinePartOf } from '../trail/machine-part.ts';
import { Button } from './button.tsx';
import { closeDialog, Dialog, openDialog } from './dialog.tsx';
import { FindingMark } from './findings.tsx';
import { MachineName } from './machine-name.tsx';
import { type Column, PagesTable, Table } from './table.tsx';
import { Badge, CopyButton, Time, Whole } from './text.tsx';
import { UserName } from './user-name.tsx';

const Result = ({ result }: Pick<AuditEntry, 'result'>) =>
  result === 'SUCCESS' ? (
    <Badge kind="good">Success</Badge>
  ) : (
    <Badge kind="bad">{result === 'FAILURE' ? 'Failure' : result}</Badge>
  );

/** The user that an entry is about, by name; for other kinds of resources the kind and the id. */
const Target = ({ resource, resource_id: id }: AuditEntry) =>
  resource === 'users' && id !== null ? (
    <UserName id={id} />
  ) : (
    <span>
      {resource} <bdi>{id}</bdi>
    </span>
  );

const parts = {
  wrote: 'wrote this entry',
  acted: 'did it',
  passed: 'passed it on',
} as const;

/** The machine that an entry names, and whether it wrote the entry, acted, or passed a request on. */
const MachinePart = ({ entry }: { entry: AuditEntry }) => {
  const part = machinePartOf(entry);
  return part ? (
    <span>
      <MachineName id={Number(entry.machine_id)} /> <span class="muted">{parts[part]}</span>
    </span>
  ) : null;
};

/** Who did it: a user, and the machine that is behind the entry. */
const Who = (entry: AuditEntry) => {
  const { user_id: id } = entry;
  if (!machinePartOf(entry)) return <UserName id={id} />;
  return (
    <div>
      {id !== null && <UserName id={id} />} <MachinePart entry={entry} />
    </div>
  );
};

/** JSON, indented on several lines; any other text is unchanged. */
const readable = (details: string): string => {
  try {
    return JSON.stringify(JSON.parse(details), null, 2);
  } catch {
    return details;
  }
};

const Value = ({ name, entry }: { name: keyof AuditEntry; entry: AuditEntry }) => {
  const value = entry[name];
  if (value === null) return <span class="muted">none</span>;
  const text = String(value);
  const isUser = name === 'user_id' || (name === 'resource_id' && entry.resource === 'users');
  return (
    <>
      {name === 'details' ? <pre>{readable(text)}</pre> : text}{' '}
      <CopyButton text={text} label={`Copy ${name}`} />
      <p class="muted">
        {(name === 'created_at' || name === 'occurred_at') &&
          `${localTime(text)} here, ${utcTime(text)}`}
        {name === 'user_agent' && readableAgent(text)}
        {isUser && <UserName id={text} isLink />}
        {name === 'machine_id' && <MachinePart entry={entry} />}
      </p>
    </>
  );
};

const EntryDetails = ({ entry }: { entry: AuditEntry }) => {
  const { created_at: since, user_id: userId, resource_id: resourceId } = entry;
  const { ip_address: ipAddress, machine_id: machineId, resource } = entry;
  const whose = isPosted(entry) ? { resource } : {};
  const time = timeOf(since);
  const links = [
    ['Link to this entry', time && { since, until: new Date(time + 1).toISOString() }],
    ['All that this user did', userId !== null && { userId }],
    ['All that was done to it', resourceId !== null && { ...whose, resourceId }],
    ['All from this source', ipAddress !== null && { ipAddress }],
    [
      'All of this machine',
      machinePartOf(entry) && settings.machines && { machineId: Number(machineId) },
    ],
  ] as const;
  return (
    <Dialog title={`${entry.action} ${entry.resource}`}>
      <dl>
        {Object.keys(entry).map((name) => (
          <Fragment key={name}>
            <dt>{name}</dt>
            <dd>
              <Value name={name as keyof AuditEntry} entry={entry} />
            </dd>
          </Fragment>
        ))}
      </dl>
      <p class="row">
        {links.map(([title, query]) =>
          query ? (
            <a key={title} href={href('/audit', query)} onClick={closeDialog}>
              {title}
            </a>
          ) : null,
        )}
      </p>
      <p>
        The whole entry, as JSON: <CopyButton text={JSON.stringify(entry)} label="Copy the entry" />
      </p>
    </Dialog>
  );
};

const columns: readonly Column<AuditEntry>[] = [
  {
    title: 'Time',
    cell: (entry) => (
      <>
        <Button class="link" onClick={() => openDialog(<EntryDetails entry={entry} />)}>
          <Time at={entry.created_at} />
        </Button>{' '}
        <FindingMark id={entry.id} />
      </>
    ),
  },
  {
    title: 'Action',
    cell: (entry) => (
      <span>
        {entry.action} <span class="muted">{happened(entry)}</span>
      </span>
    ),
    class: 'name',
  },
  { title: 'Result', cell: Result },
  { title: 'Who', cell: Who, class: 'name' },
  { title: 'To whom', cell: Target, class: 'name' },
  { title: 'Source', cell: ({ ip_address: ip }) => <Whole text={String(ip ?? '')} /> },
  {
    title: 'Agent',
    cell: ({ user_agent: agent }) => <span>{readableAgent(agent ?? '')}</span>,
    class: 'name',
  },
];

interface EntriesProps {
  readonly pages: Pages<AuditEntry> | readonly AuditEntry[];
  readonly caption: string;
  readonly empty: string;
}

/** A table of entries of the trail, each of which opens its details. */
export const Entries = ({ pages, ...texts }: EntriesProps) => {
  const table = { ...texts, columns, keyOf: ({ id }: AuditEntry) => id };
  if (!('rows' in pages)) return <Table {...table} rows={pages} />;
  return <PagesTable {...table} pages={pages} things={['entry', 'entries']} />;
};

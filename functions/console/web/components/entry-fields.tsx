import { Fragment } from 'preact';
import type { AuditEntry } from '../../../client/paths.ts';
import { localTime, utcTime } from '../format.ts';
import { readableAgent } from '../trail/agent.ts';
import { UserName } from './user-name.tsx';
import { MachinePart } from './who.tsx';

/** All fields of an entry. */
export const EntryFields = ({ entry }: { entry: AuditEntry }) => (
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
);

/** JSON, indented on several lines; any other text is unchanged. */
const readable = (details: string): string => {
  try {
    return JSON.stringify(JSON.parse(details), null, 2);
  } catch {
    return details;
  }
};

interface ValueProps {
  readonly name: keyof AuditEntry;
  readonly entry: AuditEntry;
}

/** Shows below a value what the console knows about it. */
const Meaning = ({ name, entry }: ValueProps) => {
  const text = String(entry[name]);
  if (name === 'created_at' || name === 'occurred_at')
    return (
      <>
        {localTime(text)} here, {utcTime(text)}
      </>
    );
  if (name === 'user_agent') return <>{readableAgent(text)}</>;
  if (name === 'machine_id') return <MachinePart entry={entry} />;
  const isUser = name === 'user_id' || (name === 'resource_id' && entry.resource === 'users');
  return isUser ? <UserName id={text} isLink /> : null;
};

const Value = ({ name, entry }: ValueProps) => {
  const value = entry[name];
  if (value === null) return <span class="muted">none</span>;
  const text = String(value);
  return (
    <>
      {name === 'details' ? <pre>{readable(text)}</pre> : <span>{text}</span>}
      <p class="muted">
        <Meaning name={name} entry={entry} />
      </p>
    </>
  );
};

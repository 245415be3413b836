/** The users and machines that an entry names, as lists and dialogs show them. */
import type { AuditEntry } from '../../../client/paths.ts';
import { machinePartOf } from '../trail/machine-part.ts';
import { MachineName } from './machine-name.tsx';
import { UserName } from './user-name.tsx';

interface EntryProps {
  readonly entry: AuditEntry;
}

interface TargetProps extends EntryProps {
  /** The id of the user whose page shows the entry, and who therefore needs no name there. */
  readonly about: string | undefined;
}

/** Whether a user did it alone, without a machine. */
export const isBy = (entry: AuditEntry, id: string): boolean =>
  String(entry.user_id) === id && machinePartOf(entry) === undefined;

/** Who did it: a user, and the machine that is behind the entry. */
export const Who = ({ entry }: EntryProps) => {
  const { user_id: id } = entry;
  return (
    <>
      {(id !== null || !machinePartOf(entry)) && <UserName id={id} />} <MachinePart entry={entry} />
    </>
  );
};

/** The user or the thing to which it was done, unless users did it to themselves. */
export const Target = ({ entry, about }: TargetProps) => {
  const { resource, resource_id: id, user_id: by } = entry;
  const isUser = resource === 'users';
  if (isUser && (id === null || id === about || id === String(by))) return null;
  if (isUser) return <UserName id={id} />;
  return (
    <span>
      {resource} <bdi>{id}</bdi>
    </span>
  );
};

const parts = {
  wrote: 'wrote this entry',
  acted: 'did it',
  passed: 'passed it on',
} as const;

/** The machine that an entry names, and whether it wrote the entry, acted, or passed a request on. */
export const MachinePart = ({ entry }: EntryProps) => {
  const part = machinePartOf(entry);
  return part ? (
    <span>
      <MachineName id={Number(entry.machine_id)} /> <span class="muted">{parts[part]}</span>
    </span>
  ) : null;
};

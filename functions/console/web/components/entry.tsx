import type { AuditEntry } from '../../../client/paths.ts';
import { settings } from '../api.ts';
import { timeOf } from '../format.ts';
import { href } from '../router.ts';
import { SealOfEntry } from '../screens/on-demand.tsx';
import { isPosted } from '../trail/happened.ts';
import { machinePartOf } from '../trail/machine-part.ts';
import { closeDialog, Dialog } from './dialog.tsx';
import { EntryFields } from './entry-fields.tsx';
import { useFinding } from './findings.tsx';
import { CopyButton } from './text.tsx';

/** The dialog of an entry. */
export const EntryDetails = ({ entry }: { entry: AuditEntry }) => {
  const { id, created_at: since, user_id: userId, resource_id: resourceId } = entry;
  const { ip_address: ipAddress, machine_id: machineId, resource } = entry;
  const whose = isPosted(entry) ? { resource } : {};
  const time = timeOf(since);
  const hasFinding = useFinding(id) !== undefined;
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
      {settings.sealed && <SealOfEntry id={id} isAsked={hasFinding} />}
      <EntryFields entry={entry} />
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

/** How a change of a user is recorded, and the user notified (functions/README.md, What is audited, Notices). */
import { type Deed, type Done, recording } from '../audit/record.ts';
import type { Source } from '../ground/source.ts';
import { type NoticeMessage, type Recipient, tryToNotify } from '../options/mails/hand-over.ts';
import type { Bearer } from '../options/sessions/bearer.ts';

/** The parts of an outcome that the entry and the notice need. */
interface Notified extends Done {
  /** The user as before the change or, if the change verifies the address, as after it. */
  readonly user: Recipient;
  /** The parts of the account that the notice names; none: there is no notice. */
  readonly parts: NoticeMessage['changed'];
  readonly byAdmin?: boolean;
}

/** Does work and records it, as {@link recording} does. After a success, a notice is mailed to the user. */
export async function recordingAndNotifying<D extends Notified>(
  deed: Deed & { readonly source: Source },
  work: () => Promise<D>,
): Promise<D> {
  const done = await recording(deed, work);
  const { user, parts, byAdmin = false } = done;
  await tryToNotify(user, parts, deed.source, { byAdmin }); // mails
  return done;
}

export interface Own {
  readonly caller: Bearer;
  readonly source: Source;
}

/**
 * The same for callers who change their own account.
 * @param parts the parts of the account that the notice names; none: there is no notice
 */
export async function recordingOwn<T>(
  own: Own,
  details: object,
  parts: Notified['parts'],
  work: () => Promise<T>,
): Promise<T> {
  const done = async () => ({ user: own.caller, parts, result: await work() });
  return (await recordingAndNotifying(ownDeed(own, details), done)).result;
}

export function ownDeed({ caller: { id }, source }: Own, details: object) {
  return { source, action: 'UPDATE', by: id, on: id, details } as const;
}

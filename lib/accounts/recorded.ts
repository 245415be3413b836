/** How a change of a user is recorded, and its user told (functions/README.md, What is audited, Notices). */
import { type Deed, type Done, recorded } from '../audit/record.ts';
import type { Source } from '../ground/source.ts';
import { tryToNotify } from '../options/mails/hand-over.ts';
import type { Bearer } from '../options/sessions/bearer.ts';

type Notice = Parameters<typeof tryToNotify>;

/** The parts of an outcome that the entry and the notice need. */
interface Told extends Done {
  /** The user as before the change, whose address the notice goes to. */
  readonly user: Notice[0];
  /** The parts of the account that the notice names; none: there is no notice. */
  readonly changed: Notice[1];
  /** Whether an admin has changed the account of another user. */
  readonly byAdmin?: boolean;
}

/**
 * Does work that is recorded, as {@link recorded} does, and mails a notice to the user after a success.
 * @returns what the work returns
 * @throws what the work throws
 */
export async function recordedAndTold<D extends Told>(
  deed: Deed & { readonly source: Source },
  work: () => Promise<D>,
): Promise<D> {
  const done = await recorded(deed, work);
  const { user, changed, byAdmin = false } = done;
  await tryToNotify(user, changed, deed.source, { byAdmin }); // mails
  return done;
}

/**
 * The same for what callers change of themselves.
 * @param details of the entry
 * @param changed the parts of the account that the notice names; none: there is no notice
 * @returns what the work returns
 */
export async function recordedAsOwn<T>(
  { caller, source }: { readonly caller: Bearer; readonly source: Source },
  details: object,
  changed: Notice[1],
  work: () => Promise<T>,
): Promise<T> {
  const deed = { source, action: 'UPDATE', by: caller.id, on: caller.id, details } as const;
  const done = async () => ({ user: caller, changed, result: await work() });
  return (await recordedAndTold(deed, done)).result;
}

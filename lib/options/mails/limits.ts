/**
 * Limits the mails to an address (functions/README.md, Limits of mails): how many mails of each kind are sent, whoever
 * requests them. Also sends only one mail for each request, however often Lambda delivers the request.
 */
import { createHash, randomUUID } from 'node:crypto';
import { itemKey } from '../../dynamodb/tables.ts';
import { namedError } from '../../ground/errors.ts';
import { logMailWithheld } from '../../ground/log.ts';
import { hour, longestDelay, seconds } from '../../ground/time.ts';
import { emailKey } from '../../users/address.ts';
import { getItem, type ItemKey, updateIf } from '../../users/item.ts';
import type { MailMessage } from './hand-over.ts';

export interface Claim {
  readonly kind: MailMessage['kind'];
  readonly email: string;
  readonly request_id: string;
  /** Whether the address is verified, and only its account can cause the mail. */
  readonly isVerified?: boolean;
}

/** The item of an address and a kind. Times are seconds since 1970. */
interface StoredMails {
  /** The request that was mailed last, or is being mailed. */
  readonly request_id?: string;
  /** A new id for each delivery that claims a request. */
  readonly claim?: string;
  /** The time until which no other delivery may mail the request. */
  readonly claimed_until?: number;
  readonly sent?: true;
  /** The requests of the last hour for which mails were made, and when. */
  readonly mailed?: readonly { readonly request_id: string; readonly at: number }[];
}

/** The most attempts to claim a request. An attempt fails if another delivery writes at the same time. */
const maxRounds = 3;

/**
 * Counts a mail for its address, and claims its request.
 * @returns false when the mail must not be sent: the mail of this request or of a newer request was already sent, or
 *   the address has reached a limit, which is logged
 * @throws {Error} MailUnderWay while another delivery of the request is sending the mail: the caller must try again
 *   later
 */
export async function claimMail(
  mail: Claim,
  { now = new Date() }: { now?: Date } = {},
): Promise<boolean> {
  for (let round = 0; round < maxRounds; round += 1) {
    const item: StoredMails = (await getItem(mailsKey(mail))) ?? {};
    const mailed = mailsWith(item, mail, seconds(now));
    if (!mailed) return false;
    if (await writeClaim(mail, { claim: item.claim, mailed, now: seconds(now) })) return true;
  }
  throw namedError('MailUnderWay');
}

/** The seconds until an address may get the next mail of a kind that anybody may request. */
export async function waitForAddress(
  mail: Pick<Claim, 'kind' | 'email'>,
  now = new Date(),
): Promise<number> {
  const limit = { timeout: longestDelay() };
  const { mailed } = (await getItem<StoredMails>(mailsKey(mail), limit)) ?? {};
  return waitAfter(recent(mailed, seconds(now)), asked, seconds(now));
}

/** The key of the item of an address, in any spelling. */
export function mailsKey({ kind, email }: Pick<Claim, 'kind' | 'email'>): ItemKey {
  const digest = createHash('sha256').update(emailKey(email)).digest('base64url');
  return itemKey('mails#*', kind, digest);
}

/** Records that a request is done. */
export function markMailed(mail: Claim): Promise<void> {
  return updateClaimed(mail, 'SET sent = :true', { ':true': true });
}

/** Ends the claim of a request that could not be mailed, so that it can be tried again at once. */
export function releaseMail(mail: Claim): Promise<void> {
  return updateClaimed(mail, 'REMOVE claimed_until');
}

const minute = 60;

/** The limits for mails that anybody may request: the most mails of a kind within a number of seconds. */
const asked = [
  { most: 1, within: minute },
  { most: 5, within: hour },
];

/** The limit for notices to a verified address; only the account with this address can cause them. */
const own = [{ most: 10, within: hour }];

/**
 * @returns undefined if the request must not be mailed
 * @throws {Error} MailUnderWay while another delivery is sending the mail
 */
function mailsWith(item: StoredMails, mail: Claim, now: number): StoredMails['mailed'] {
  const { request_id, sent, claimed_until = 0, mailed = [] } = item;
  if (request_id === mail.request_id) {
    if (!sent && claimed_until > now) throw namedError('MailUnderWay');
    // A new attempt at a request whose mail was not sent does not count as a further mail.
    return sent ? undefined : mailed;
  }
  // The request is delivered again after a newer request; a mail would make the link of the newer request void.
  if (mailed.some((one) => one.request_id === mail.request_id)) return undefined;
  const before = recent(mailed, now);
  if (waitAfter(before, mail.isVerified ? own : asked, now) === 0) {
    return [...before, { request_id: mail.request_id, at: now }];
  }
  logMailWithheld(mail);
  return undefined;
}

/** The mails of the last hour. Times in the future were written before the clock was set back. */
function recent(mailed: StoredMails['mailed'] = [], now: number) {
  return mailed.filter(({ at }) => at > now - hour && at <= now + minute);
}

/** The seconds until one more mail is within the limits; 0: it already is within them. */
function waitAfter(mailed: ReturnType<typeof recent>, limits: typeof asked, now: number): number {
  const times = mailed.map(({ at }) => at).sort((one, other) => one - other);
  const waits = limits.map(({ most, within }) => (times.at(-most) ?? 0) + within - now);
  return Math.max(0, ...waits);
}

/** Seconds for which a delivery claims a request: longer than the mailing function may run. */
const lease = 50;

function writeClaim(
  mail: Claim,
  { claim, mailed, now }: Pick<StoredMails, 'mailed'> & { claim: string | undefined; now: number },
): Promise<boolean> {
  return updateIf(mailsKey(mail), {
    UpdateExpression:
      'SET request_id = :request, mailed = :mailed, claim = :claim, claimed_until = :lease, expires_at = :end REMOVE sent',
    ConditionExpression: claim === undefined ? 'attribute_not_exists(claim)' : 'claim = :seen',
    ExpressionAttributeValues: {
      ':request': mail.request_id,
      ':mailed': mailed,
      ':claim': randomUUID(),
      ':lease': now + lease,
      ':end': now + hour,
      ...(claim === undefined ? {} : { ':seen': claim }),
    },
  });
}

async function updateClaimed(
  mail: Claim,
  UpdateExpression: string,
  values: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  await updateIf(mailsKey(mail), {
    UpdateExpression,
    ConditionExpression: 'request_id = :request',
    ExpressionAttributeValues: { ':request': mail.request_id, ...values },
  });
}

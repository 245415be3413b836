/** The events that follow from records of the audit table's stream (infra/runbooks.md, Events). */
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { attributes, listEntries, machineAttributes, shown } from '../../audit/query.ts';
import { hasExpired } from '../../audit/retention.ts';
import { replayId } from '../../dynamodb/tables.ts';
import { auditTrailBroken, logError } from '../../ground/log.ts';

type Image = Readonly<Record<string, AttributeValue>>;

/** A record of the stream, in the form of DynamoDB's API and of Lambda. */
export interface StreamRecord {
  readonly eventID: string;
  /** Present if DynamoDB itself has deleted the item, because it expired. */
  readonly userIdentity?: { readonly principalId: string };
  readonly dynamodb: {
    readonly SequenceNumber: string;
    /** Seconds since 1970. */
    readonly ApproximateCreationDateTime: number;
    readonly OldImage?: Image;
    readonly NewImage?: Image;
  };
}

export interface AuditEvent {
  readonly sequenceNumber: string;
  readonly event: { readonly Time: number; readonly DetailType: string; readonly Detail: string };
}

/**
 * The events that follow from records: new entries, and forbidden changes of entries. Forbidden changes are logged too,
 * so that the alarm is raised even while the bus refuses events.
 */
export async function eventsOf(changes: readonly StreamRecord[]): Promise<readonly AuditEvent[]> {
  const replayed = await replayedIn(changes);
  const judged = changes.map((change) => ({ change, kind: kindOf(change, replayed) }));
  const findings = judged.flatMap(({ change, kind }) =>
    kind ? [{ kind, subject: idOf(change) }] : [],
  );
  if (findings.length > 0) logError(auditTrailBroken, { faults: findings.length, findings });
  return judged.flatMap(({ change, kind }) => toEvent(change, kind));
}

async function replayedIn(changes: readonly StreamRecord[]): Promise<ReadonlySet<unknown>> {
  const late = changes.filter(isLate);
  const listed = late.length > 0 ? await listedAround(late.map(timeOf)) : new Set();
  if (late.every((change) => listed.has(idOf(change)))) return listed;
  // The index may lag behind the stream.
  await sleep(2000);
  return listedAround(late.map(timeOf));
}

/** Seconds by which the time of an entry may differ from the time at which it was inserted. */
const tolerance = 600;

function isLate(change: StreamRecord): boolean {
  const createdAt = Date.parse(String(show(imageOf(change)).created_at)) / 1000;
  // An entry without a time counts as late too.
  return !change.dynamodb.OldImage && !(Math.abs(timeOf(change) - createdAt) <= tolerance);
}

function show(image: Image, names: readonly string[] = Object.keys(image)) {
  return Object.fromEntries(names.map((name) => [name, shown(image[name])]));
}

function imageOf({ dynamodb }: StreamRecord): Image {
  return dynamodb.NewImage ?? dynamodb.OldImage ?? {};
}

function timeOf({ dynamodb }: StreamRecord) {
  return dynamodb.ApproximateCreationDateTime;
}

/** The ids that replays list in their own entries, for replays near the given times of insertion. */
async function listedAround(times: readonly number[]): Promise<ReadonlySet<unknown>> {
  const [since, until] = [Math.min(...times) - tolerance, Math.max(...times) + tolerance].map(
    (time) => new Date(time * 1000).toISOString(),
  );
  const filter = { resourceId: replayId, action: 'CREATE', since, until } as const;
  const { entries } = await listEntries(filter, { limit: 1000, order: 'desc' });
  const replays = entries.filter(({ resource }) => resource === 'audit-logs');
  return new Set(replays.flatMap(({ details }) => idsIn(details)));
}

function idsIn(details: unknown): readonly unknown[] {
  try {
    return [JSON.parse(String(details)).entries].flat();
  } catch {
    return [];
  }
}

function idOf(change: StreamRecord) {
  return shown(imageOf(change).id);
}

/** The kind of a forbidden change of an entry; undefined for an allowed change. */
function kindOf(change: StreamRecord, replayed: ReadonlySet<unknown>): string | undefined {
  const { OldImage, NewImage } = change.dynamodb;
  if (!OldImage) return isLate(change) && !replayed.has(idOf(change)) ? 'inserted' : undefined;
  if (NewImage) return isDeepStrictEqual(OldImage, NewImage) ? undefined : 'changed';
  return isExpiry(change) ? undefined : 'deleted';
}

function isExpiry(change: StreamRecord): boolean {
  const { created_at, expires_at } = show(imageOf(change));
  const isByDynamoDB = change.userIdentity?.principalId === 'dynamodb.amazonaws.com';
  return isByDynamoDB && hasExpired({ created_at, expires_at }, timeOf(change) * 1000);
}

function toEvent(change: StreamRecord, kind: string | undefined): AuditEvent[] {
  const { SequenceNumber: sequenceNumber, OldImage, NewImage } = change.dynamodb;
  const tell = (type: string, detail: object) => {
    // EventBridge allows 128 characters for a type.
    const DetailType = type.slice(0, 128).toWellFormed();
    const event = { Time: timeOf(change), DetailType, Detail: toJson(detail) };
    return [{ sequenceNumber, event }];
  };
  if (kind) {
    const [before, after] = [OldImage, NewImage].map((image) => (image ? show(image) : null));
    const deed = { kind, id: idOf(change), event_id: change.eventID, before, after };
    return tell('audit-logs.TAMPERED', deed);
  }
  if (OldImage || !NewImage) return [];
  const ofMachine = machineAttributes.filter((name) => NewImage[name]);
  const entry = show(NewImage, [...attributes, ...ofMachine]);
  const failure = entry.result === 'FAILURE' ? '.FAILURE' : '';
  return tell(`${entry.resource}.${entry.action}${failure}`, entry);
}

/** The most bytes of a detail: EventBridge and SQS allow 256 KB, and quotes are escaped in SQS. */
const maxBytes = 100_000;

function toJson(detail: object): string {
  const fits = (text: string) => Buffer.byteLength(text) <= maxBytes;
  const whole = JSON.stringify(detail);
  if (fits(whole)) return whole;
  const short = JSON.stringify(detail, cut);
  // An item that was not written by the service may have any number of attributes.
  return fits(short) ? short : JSON.stringify(detail, ['kind', 'id', 'event_id']);
}

/** If a detail is too long, its texts are cut to this many characters. */
const maxText = 1000;

function cut(_: string, value: unknown) {
  return typeof value === 'string' && value.length > maxText
    ? value.slice(0, maxText).toWellFormed()
    : value;
}

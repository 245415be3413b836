import { randomInt } from 'node:crypto';

export const actions = ['CREATE', 'READ', 'UPDATE', 'DELETE', 'LOGIN', 'LOGOUT', 'EXPORT'] as const;
export type Action = (typeof actions)[number];

/** The details of a request for a password reset, whose link was mailed or printed. */
export const resetRequested = { fields: [], by: 'reset', requested: true } as const;

/** The actions of entries that machines post: logins and logouts are the service's own. */
export const postedActions = ['CREATE', 'READ', 'UPDATE', 'DELETE', 'EXPORT'] as const;

/** The resources of the service's own entries, which have no dot. Types allow no other resource of a recorded deed. */
export const ownResources = [
  ...['users', 'machines', 'audit-logs', 'audit-seal'],
  ...['signing-secret', 'signing-key', 'edge-header'],
] as const;
export type OwnResource = (typeof ownResources)[number];

export const results = ['SUCCESS', 'FAILURE'] as const;

/** Whose entries a query is for: entries of the service itself, or entries that machines have posted. */
export const entrySources = ['service', 'machines'] as const;

/** An audit entry, as it is stored and as responses show it. */
export interface AuditEntry {
  readonly id: number;
  /** The id of the user who did the action; null: not known. */
  readonly user_id: number | null;
  readonly action: Action;
  readonly resource: string;
  /** The id of the user, or of another thing, that the action was done to. */
  readonly resource_id: string | null;
  readonly ip_address: string | null;
  readonly user_agent: string | null;
  readonly result: (typeof results)[number];
  /** JSON, after redaction. */
  readonly details: string | null;
  /** ISO 8601, UTC, milliseconds. */
  readonly created_at: string;
  /**
   * The id of the machine that did the action, that posted the entry, or that named the address of the request; null
   * or absent: none.
   */
  readonly machine_id?: number | null;
  /** When the action happened, as the machine that posted the entry says, in the form of `created_at`. */
  readonly occurred_at?: string | null;
}

/** An action as the caller of {@link makeEntry} knows it; the rest is null or generated. */
export interface AuditedAction {
  readonly user_id?: number | undefined;
  readonly action: Action;
  readonly resource: string;
  readonly resource_id?: string | number | undefined;
  readonly ip_address?: string | undefined;
  readonly user_agent?: string | undefined;
  /** The id of the request. It is stored beside the entry, and is not part of the entry. */
  readonly request_id?: string | undefined;
  readonly result: (typeof results)[number];
  readonly details?: unknown;
  readonly machine_id?: number | undefined;
  readonly occurred_at?: string | undefined;
}

/** The most characters that are stored of each field (functions/README.md, What is audited). */
const limits = { resource: 100, resource_id: 100, ip_address: 45, user_agent: 1024 };

/** Completes an entry: generated fields, absent values as null, redaction, limits. */
export function makeEntry(
  action: AuditedAction,
  { now = new Date(), random = randomInt }: { now?: Date; random?: (below: number) => number } = {},
): AuditEntry {
  return {
    id: makeAuditId(now, random),
    user_id: action.user_id ?? null,
    action: action.action,
    resource: cut(action.resource, limits.resource) ?? '',
    resource_id: cut(action.resource_id, limits.resource_id),
    ip_address: cut(action.ip_address, limits.ip_address),
    user_agent: cut(action.user_agent, limits.user_agent),
    result: action.result,
    details: serialise(action.details),
    created_at: now.toISOString(),
    ...(action.machine_id === undefined ? {} : { machine_id: action.machine_id }),
    ...(action.occurred_at === undefined ? {} : { occurred_at: action.occurred_at }),
  };
}

const sensitiveKeys = new Set(['password', 'token', 'secret', 'creditCard', 'apiKey']);

/**
 * Replaces the sensitive top-level values of a details object (functions/README.md, What is
 * audited). Anything but an object is returned unchanged.
 */
export function redact(details: unknown): unknown {
  if (typeof details !== 'object' || details === null || Array.isArray(details)) return details;
  return Object.fromEntries(
    Object.entries(details).map(([key, value]) => [
      key,
      sensitiveKeys.has(key) && !isEmpty(value) ? '[REDACTED]' : value,
    ]),
  );
}

/**
 * Replaces the sensitive values as {@link redact} does, at any depth. Values below the depth are left out: the brackets
 * around them make the JSON longer than twice the depth.
 */
export function redactDeeply(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth === 0) return null;
  if (Array.isArray(value)) return value.map((inner) => redactDeeply(inner, depth - 1));
  const redacted = Object.entries(redact(value) as object);
  return Object.fromEntries(redacted.map(([key, inner]) => [key, redactDeeply(inner, depth - 1)]));
}

const idsPerMillisecond = 4096;

/**
 * An id without a counter: a non-negative safe integer, made of the millisecond and a random tail. Ids are ordered by
 * time as long as the clock shows a time from 2026 to 2095.
 * @param random returns an integer from 0 up to, but not including, its argument
 */
export function makeAuditId(now: Date, random: (below: number) => number = randomInt): number {
  return timeOfId(now) * idsPerMillisecond + random(idsPerMillisecond);
}

/** The time from which an id was made, if the service has made the id. */
export function timeOfAuditId(id: number): Date {
  return new Date(idEpoch + Math.floor(id / idsPerMillisecond));
}

function cut(value: string | number | undefined, limit: number): string | null {
  if (value == null || value === '') return null;
  return [...String(value)].slice(0, limit).join('');
}

function serialise(details: unknown): string | null {
  if (details === undefined || details === null) return null;
  return typeof details === 'string' ? details : JSON.stringify(redact(details));
}

function isEmpty(value: unknown) {
  return value === undefined || value === null || value === '';
}

/** The instant from which ids count, in milliseconds since 1970: 2026-01-01. */
const idEpoch = Date.UTC(2026, 0, 1);

/** The number of milliseconds whose ids are less than 2^53: they end in the year 2095. */
const idPeriod = 2 ** 53 / idsPerMillisecond;

/** Milliseconds since {@link idEpoch}. A time outside the period, which only a wrong clock shows, wraps around. */
function timeOfId(now: Date): number {
  const time = (now.getTime() - idEpoch) % idPeriod;
  return time < 0 ? time + idPeriod : time;
}

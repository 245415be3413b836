import { config } from '../../lib/config.ts';
import type { JsonObject } from '../../lib/endpoint.ts';
import { invalidField } from '../../lib/errors.ts';
import type { StoredUser } from '../../lib/users/items.ts';
import { hashCost, isPasswordHash } from '../../lib/users/password.ts';
import { parseEmail, parseName, parseNewRole } from '../../lib/users/schema.ts';

/** A user of another system, who has no id here yet. */
export type ImportedUser = Omit<StoredUser, 'id'>;

const parseObject = (text: string): JsonObject => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser's message quotes the line, and with it the hash.
    throw invalidField('the line', 'is not valid JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalidField('the line', 'must be a JSON object');
  }
  return value as JsonObject;
};

/** A refused login takes as long for everybody only while no hash costs more than the service's. */
const requireAffordable = (hash: string): void => {
  if (hashCost(hash) <= config.bcryptCost) return;
  const limit = `at most ${config.bcryptCost}, the service's BCRYPT_COST`;
  throw invalidField(
    'password_hash',
    `must have a cost of ${limit}: raise that (setting bcryptCost) first`,
  );
};

const parseHash = (value: unknown): string => {
  if (typeof value !== 'string' || !isPasswordHash(value)) {
    const forms = '$2a$, $2b$ or $2y$, a cost from 04 to 16, 60 characters in all';
    throw invalidField('password_hash', `must be a bcrypt hash: ${forms}`);
  }
  requireAffordable(value);
  return value;
};

const timestamp = /^(\d{4})-(\d\d)-(\d\d)T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/;

const daysOf = (year: string | undefined, month: string | undefined) =>
  new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();

const parseCreatedAt = (value: unknown, now: Date): string => {
  if (value === undefined || value === null) return now.toISOString();
  const [text, year, month, day] = timestamp.exec(String(value)) ?? [];
  const date = new Date(text ?? Number.NaN);
  if (typeof value !== 'string' || !(date.getTime() >= 0) || Number(day) > daysOf(year, month)) {
    throw invalidField('created_at', 'must be a time since 1970, as in 2026-01-31T09:05:00Z');
  }
  if (date > now) throw invalidField('created_at', 'must not be in the future');
  return date.toISOString();
};

/**
 * A line of an import.
 * @throws {DomainError} FIELD_INVALID, whose message names the rule and quotes nothing
 */
export const parseImportedUser = (text: string, now: Date): ImportedUser => {
  const body = parseObject(text);
  return {
    name: parseName(body.name),
    email: parseEmail(body.email),
    role: parseNewRole(body, 'admin'),
    created_at: parseCreatedAt(body.created_at, now),
    password_hash: parseHash(body.password_hash),
  };
};

import { DomainError, invalidField } from '../../lib/errors.ts';
import { config } from '../../lib/settings.ts';
import { type StoredUser, verification } from '../../lib/users/items.ts';
import { hashCost, isPasswordHash, unmatchableHash } from '../../lib/users/password.ts';
import { parseEmail, parseName, parseRole } from '../../lib/users/schema.ts';
import { emailKey } from '../../lib/users/user.ts';
import type { Fields } from '../../lib/validation.ts';
import type { Line } from './files.ts';
import { brokenRule } from './users.ts';

/** A user of another system, who has no id in this service yet. */
type ImportedUser = Omit<StoredUser, 'id'>;

interface ImportedLine {
  readonly user: ImportedUser;
  /** The line's field id, to be written by JSON.stringify; null without one. */
  readonly oldId: unknown;
}

interface ExactJson {
  parse(
    text: string,
    revive: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
  ): unknown;
  rawJSON(text: string): unknown;
}

/** These are standard JavaScript, but TypeScript's types do not have them yet. */
const { parse, rawJSON } = JSON as unknown as ExactJson;

/** Keeps a number as it is written, if JavaScript would change it: ids may have 19 digits. */
const keepNumber = (_key: string, value: unknown, { source = '' }: { readonly source?: string }) =>
  typeof value === 'number' && String(value) !== source ? rawJSON(source) : value;

const parseObject = (text: string): Fields => {
  let value: unknown;
  try {
    value = parse(text, keepNumber);
  } catch {
    // The parser's message quotes the line, and with it the hash.
    throw invalidField('the line', 'is not valid JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalidField('the line', 'must be a JSON object');
  }
  return value as Fields;
};

/** A hash of a higher cost would make refused logins of its user slower than those of others. */
const requireAffordable = (hash: string): void => {
  if (hashCost(hash) <= config.bcryptCost) return;
  const limit = `at most ${config.bcryptCost}, the service's BCRYPT_COST`;
  throw invalidField(
    'password_hash',
    `must have a cost of ${limit}: raise it (setting bcryptCost) first`,
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

/** ISO 8601, or PostgreSQL's form, with a space for the T and an offset without minutes. */
const timestamp =
  /^(\d{4})-(\d\d)-(\d\d)[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)(Z|[+-]\d\d(?::\d\d)?)?$/;

const daysOf = (year: string | undefined, month: string | undefined) =>
  new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();

/** @returns undefined for text that is not in this form, and for a day that does not exist */
const parseTimestamp = (value: unknown): Date | undefined => {
  const found = typeof value === 'string' ? timestamp.exec(value) : null;
  if (!found) return undefined;
  const [, year, month, day, time, offset] = found;
  if (Number(day) > daysOf(year, month)) return undefined;
  if (!offset) {
    throw invalidField('created_at', 'must end with its offset from UTC, such as +02 or Z');
  }
  const minutes = offset.length === 3 ? ':00' : '';
  return new Date(`${year}-${month}-${day}T${time}${offset}${minutes}`);
};

const parseCreatedAt = (value: unknown, now: Date): string => {
  if (value === undefined || value === null) return now.toISOString();
  const date = parseTimestamp(value);
  if (!date || !(date.getTime() >= 0)) {
    throw invalidField('created_at', 'must be a time since 1970, such as 2026-01-31T09:05:00Z');
  }
  if (date > now) throw invalidField('created_at', 'must not be in the future');
  return date.toISOString();
};

const required = (body: Fields, name: string): unknown => {
  if (body[name] == null) throw invalidField(name, 'is missing');
  return body[name];
};

/** Users without a hash get one that no password matches, so that logins take the same time. */
const parseGivenHash = (body: Fields): string =>
  body.password_hash === null ? unmatchableHash() : parseHash(required(body, 'password_hash'));

/**
 * An address counts as verified in the other system, unless the line says that it is not. Null is
 * refused: it may mean that nobody knows.
 */
const parseVerified = (value: unknown): boolean => {
  if (value === undefined) return true;
  if (typeof value === 'boolean') return value;
  throw invalidField('email_verified', 'must be true or false');
};

/**
 * Parses a line of an import.
 * @throws {DomainError} FIELD_INVALID, whose message names every broken rule and quotes nothing
 */
const parseImportedLine = (text: string, now: Date): ImportedLine => {
  const body = parseObject(text);
  const broken: string[] = [];
  const read = <T>(parseField: () => T): T => {
    try {
      return parseField();
    } catch (error) {
      const rule = brokenRule(error);
      if (rule === undefined) throw error;
      broken.push(rule);
      return undefined as T;
    }
  };
  const user = {
    name: read(() => parseName(required(body, 'name'))),
    email: read(() => parseEmail(required(body, 'email'))),
    role: read(() => parseRole(body.role)),
    created_at: read(() => parseCreatedAt(body.created_at, now)),
    password_hash: read(() => parseGivenHash(body)),
    ...verification(read(() => parseVerified(body.email_verified))),
  };
  if (broken.length > 0) throw new DomainError('FIELD_INVALID', { message: broken.join('; ') });
  return { user, oldId: body.id ?? null };
};

/** A line that is not imported. The reason never quotes the line. */
export interface Rejection {
  readonly line: number;
  readonly reason: string;
}

export interface Candidate extends ImportedLine {
  readonly line: number;
}

/** Lines that are imported together. */
export interface Block {
  readonly candidates: readonly Candidate[];
  readonly rejections: readonly Rejection[];
  readonly last: Line;
}

/** As many email addresses as one request looks up; and lines, when most of them are invalid. */
const maxCandidates = 100;
const maxLines = 1000;

type Judgement = Candidate | Rejection;

const parseLine = (line: number, text: string, now: Date): Judgement => {
  try {
    return { line, ...parseImportedLine(text, now) };
  } catch (error) {
    const reason = brokenRule(error);
    if (reason === undefined) throw error;
    return { line, reason };
  }
};

/** Accepts or rejects a line; an email address may appear only once in a file. */
const judge = (line: Line, seen: Map<string, number>, now: Date): Judgement | undefined => {
  const { number, text = '', fault } = line;
  if (fault) return { line: number, reason: fault };
  if (text.trim() === '') return undefined;
  const judgement = parseLine(number, text, now);
  if ('reason' in judgement) return judgement;
  const key = emailKey(judgement.user.email);
  const before = seen.get(key);
  if (before) return { line: number, reason: `has the email of line ${before}` };
  seen.set(key, number);
  return judgement;
};

/** The accepted and rejected lines of an import, in blocks, without blank lines. */
export async function* readBlocks(
  lines: AsyncIterable<Line>,
  { now }: { now: Date },
): AsyncGenerator<Block> {
  const seen = new Map<string, number>();
  let judged: Judgement[] = [];
  let candidates = 0;
  let last: Line | undefined;
  const finish = (end: Line): Block => ({
    candidates: judged.filter((judgement) => 'user' in judgement),
    rejections: judged.filter((judgement) => 'reason' in judgement),
    last: end,
  });

  for await (const line of lines) {
    last = line;
    const judgement = judge(line, seen, now);
    if (!judgement) continue;
    judged.push(judgement);
    if ('user' in judgement) candidates += 1;
    if (candidates < maxCandidates && judged.length < maxLines) continue;
    yield finish(line);
    [judged, candidates] = [[], 0];
  }
  if (last && judged.length > 0) yield finish(last);
}

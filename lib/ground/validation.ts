/**
 * The parts of schemas of bodies and parameters. A rule has a check, the message for the client, and the JSON Schema
 * keywords for the OpenAPI document.
 *
 * The functions that make schemas are marked as free of side effects, so that a bundle leaves out
 * the schemas that its function does not use.
 */
import * as v from 'valibot';
import {
  DomainError,
  type ErrorCode,
  type FieldFault,
  type FieldFaultCode,
  sentenceOf,
} from './errors.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** JSON Schema keywords (draft 2020-12). */
export type Keywords = Readonly<Record<string, unknown>>;

interface RuleOptions<Value> {
  readonly code: FieldFaultCode | ErrorCode;
  readonly holds: (value: Value) => boolean;
  /** Completes the sentence that the field's name begins. */
  readonly message?: () => string;
  readonly keywords?: () => Keywords;
}

/** Text without lone surrogates, which could not be stored as they are. */
export const text = v.pipe(
  v.string('must be a string'),
  rule({
    code: 'NOT_WELL_FORMED',
    holds: (value) => value.isWellFormed(),
    message: () => 'must be well-formed Unicode',
  }),
);

/**
 * Whether text is short enough to be normalized, folded, trimmed or compared: it may have at most four UTF-16 units for
 * each character that its limit allows (functions/README.md, Input). Normalization takes time in proportion to the
 * square of the length.
 */
export function isReadable(text: string, maximum: number): boolean {
  return text.length <= 4 * maximum;
}

export function isVisible(text: string): boolean {
  return !invisible.test(text);
}

export function hasNoControls(text: string): boolean {
  return !/\p{Cc}/u.test(text);
}

/** Whether text is one line that could be a name, whatever its length (functions/README.md, Input). */
export function isLine(text: string): boolean {
  return text.isWellFormed() && text.trim() === text && isVisible(text) && hasNoControls(text);
}

/** The rule for text before it is trimmed. Text that breaks it is too long, and is not checked by further rules. */
// @__NO_SIDE_EFFECTS__
export function readable(maximum: number) {
  return rule({ ...tooLong(maximum), holds: (text) => isReadable(text, maximum) });
}

// @__NO_SIDE_EFFECTS__
export function atMost(maximum: number) {
  return rule({
    ...tooLong(maximum),
    holds: (text) => length(text) <= maximum,
    keywords: () => ({ maxLength: maximum }),
  });
}

/** A rule for text, or for a body. Message and keywords are functions because they may depend on a setting. */
// @__NO_SIDE_EFFECTS__
export function rule<Value = string>({
  code,
  holds,
  message,
  keywords = () => ({}),
}: RuleOptions<Value>) {
  return {
    // valibot copies the requirement, and so the code, into the issue.
    ...v.check(
      Object.assign((value: Value) => holds(value), { code }),
      message,
    ),
    keywords,
  };
}

/** @param minimum called at each check, because it may depend on a setting */
// @__NO_SIDE_EFFECTS__
export function atLeast(minimum: () => number) {
  return rule({
    code: 'TOO_SHORT',
    holds: (text) => length(text) >= minimum(),
    message: () => `must be at least ${characters(minimum())}`,
    keywords: () => ({ minLength: minimum() }),
  });
}

/** Text that is one of the given words. */
// @__NO_SIDE_EFFECTS__
export function oneOf<const Words extends readonly string[]>(words: Words) {
  return v.picklist(words, `must be one of ${words.join(', ')}`);
}

export const trueOrFalse = v.boolean('must be true or false');

/** A schema with its sentence in the document. */
// @__NO_SIDE_EFFECTS__
export function described<const Schema extends v.GenericSchema>(schema: Schema, text: string) {
  return v.pipe(schema, v.description(text));
}

/** Fields that are known only if an option is on; all these fields are optional. */
// @__NO_SIDE_EFFECTS__
export function fieldsIf<const Entries extends v.ObjectEntries>(isOn: boolean, entries: Entries) {
  return isOn ? entries : ({} as Entries);
}

export type BodySchema = v.GenericSchema & { readonly entries: v.ObjectEntries };

/** The codes of the errors that a body can have; absent: FIELD_INVALID. See lib/contract/contract.ts. */
interface BodyErrors {
  readonly whenMissing?: ErrorCode;
  readonly whenInvalid?: ErrorCode | Readonly<Record<string, ErrorCode>>;
}

/**
 * A body in the form of its schema.
 * @throws {DomainError} with all faults. A missing field is reported before fields that break a rule, except optional
 *   fields that come first. A rule for the whole body has an error of its own.
 */
export function parseBody<Schema extends BodySchema>(
  schema: Schema,
  body: Fields,
  { whenMissing, whenInvalid = 'FIELD_INVALID' }: BodyErrors = {},
): v.InferOutput<Schema> {
  const validated = validateObject(schema, body);
  if ('output' in validated) return validated.output;
  const { faults } = validated;
  const [first] = faults as readonly [FieldFault];
  if (first.field === '') throw new DomainError(first.code as ErrorCode);
  const isMissed = faults.some(({ code }) => code === 'REQUIRED');
  if (whenMissing && isMissed && isRequired(schema.entries[first.field] as never)) {
    throw new DomainError(whenMissing, { faults });
  }
  const own = typeof whenInvalid === 'string' ? whenInvalid : whenInvalid[first.field];
  if (own && own !== 'FIELD_INVALID') throw new DomainError(own, { faults });
  throw new DomainError('FIELD_INVALID', { message: sentenceOf(first), faults });
}

/** Faults are in the order of the schema. A required field without a value is only reported as missing. */
export function validateObject<Schema extends BodySchema>(
  schema: Schema,
  body: Fields,
): ReturnType<typeof validate<Schema>> {
  const validated = validate(schema, body);
  if ('output' in validated) return validated;
  const ofWhole = validated.faults.filter(({ field }) => field === '');
  const ofFields = Object.entries(schema.entries).flatMap(([field, rules]): FieldFault[] => {
    const own = validated.faults.filter((fault) => fault.field.split('/')[0] === field);
    return own.length > 0 && isRequired(rules) && isMissing(rules, body[field], own)
      ? [{ field, code: 'REQUIRED', rule: 'is required' }]
      : own;
  });
  return { faults: [...ofWhole, ...ofFields] };
}

/** Validates a value by a schema. */
export function validate<Schema extends v.GenericSchema>(
  schema: Schema,
  value: unknown,
): { output: v.InferOutput<Schema> } | { faults: readonly FieldFault[] } {
  const { success, output, issues } = v.safeParse(schema, value);
  return success ? { output } : { faults: issues.map(toFault) };
}

/** White space, and characters that show nothing. Unicode does not count the blank of Braille, U+2800, as space. */
const invisible = /^[\s\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]*$/u;

/** Unicode code points, as JSON Schema counts them (RFC 8259, section 7). */
function length(text: string): number {
  return [...text].length;
}

function tooLong(maximum: number) {
  return { code: 'TOO_LONG', message: () => `must be at most ${characters(maximum)}` } as const;
}

function characters(count: number) {
  return `${count} character${count > 1 ? 's' : ''}`;
}

/** The codes of the faults that the schemas of valibot itself find. */
const codes: Readonly<Record<string, FieldFaultCode>> = {
  // The fault of an object that lacks the field.
  object: 'REQUIRED',
  min_length: 'TOO_SHORT',
  max_length: 'TOO_LONG',
  boolean: 'WRONG_TYPE',
  string: 'WRONG_TYPE',
  number: 'WRONG_TYPE',
  strict_object: 'WRONG_TYPE',
  array: 'WRONG_TYPE',
  custom: 'WRONG_TYPE',
  never: 'UNKNOWN_VALUE',
  null: 'UNKNOWN_VALUE',
  picklist: 'UNKNOWN_VALUE',
};

/** The fields that have fields of their own, in which a fault names the inner field too. */
const nested = ['attributes', 'entries'];

function toFault(issue: v.BaseIssue<unknown>): FieldFault {
  const { type, path, message, requirement, expected } = issue;
  const code = expected === 'Object' ? 'WRONG_TYPE' : codes[type];
  const keys = (path ?? []).map(({ key }) => escaped(String(key)));
  return {
    field: (nested.includes(keys[0] ?? '') ? keys : keys.slice(0, 1)).join('/'),
    code: code ?? ((requirement as Partial<RuleOptions<unknown>>)?.code as FieldFaultCode),
    rule: message,
  };
}

/** A name in the form of a JSON pointer (RFC 6901, section 3). */
function escaped(name: string) {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

function isRequired({ type }: { readonly type: string }) {
  return !['optional', 'exact_optional', 'nullish'].includes(type);
}

/** Whether a value is absent, null or empty. If the schema trims text, white space counts as empty. */
function isMissing(schema: object, value: unknown, faults: readonly FieldFault[]) {
  const found = faults.map(({ code }) => code);
  return (
    value == null ||
    value === '' ||
    (typeof value === 'string' && trims(schema) && !found.includes('TOO_LONG') && !value.trim()) ||
    found.includes('EMPTY')
  );
}

/** Whether a schema trims text, itself or in a schema that it contains. */
function trims(schema: object): boolean {
  return (
    'pipe' in schema &&
    (schema.pipe as { type: string }[]).some((part) => part.type === 'trim' || trims(part))
  );
}

/**
 * The parts of schemas of bodies and parameters. A rule has a check, the message for the client,
 * and the JSON Schema keywords for the OpenAPI document.
 *
 * The functions that make schemas are marked as free of side effects, so that a bundle leaves out
 * the schemas that its function does not use.
 */
import * as v from 'valibot';
import { DomainError, type ErrorCode, type FieldFault, type FieldFaultCode } from './errors.ts';

/** An object that a client sent, whatever is in it. */
export type Fields = Readonly<Record<string, unknown>>;

/** JSON Schema keywords (draft 2020-12). */
export type Keywords = Readonly<Record<string, unknown>>;

interface RuleOptions {
  readonly code: FieldFaultCode;
  readonly holds: (text: string) => boolean;
  /** Completes the sentence that the field's name begins. */
  readonly message: () => string;
  readonly keywords?: () => Keywords;
}

/** A rule for text. Message and keywords are functions because they may depend on a setting. */
// @__NO_SIDE_EFFECTS__
export const rule = ({ code, holds, message, keywords = () => ({}) }: RuleOptions) => ({
  ...v.check<string, () => string>(holds, message),
  type: code as 'check',
  keywords,
});

/** Unicode code points, as JSON Schema counts them (RFC 8259, section 7). */
const length = (text: string): number => [...text].length;

const characters = (count: number) => `${count} character${count > 1 ? 's' : ''}`;

// @__NO_SIDE_EFFECTS__
export const atMost = (maximum: number) =>
  rule({
    code: 'TOO_LONG',
    holds: (text) => length(text) <= maximum,
    message: () => `must be at most ${characters(maximum)}`,
    keywords: () => ({ maxLength: maximum }),
  });

/** @param minimum called at each check, because it may depend on a setting */
// @__NO_SIDE_EFFECTS__
export const atLeast = (minimum: () => number) =>
  rule({
    code: 'TOO_SHORT',
    holds: (text) => length(text) >= minimum(),
    message: () => `must be at least ${characters(minimum())}`,
    keywords: () => ({ minLength: minimum() }),
  });

/** Text without lone surrogates, which could not be stored as they are. */
export const text = v.pipe(
  v.string('must be a string'),
  rule({
    code: 'NOT_WELL_FORMED',
    holds: (value) => value.isWellFormed(),
    message: () => 'must be well-formed Unicode',
  }),
);

/** One of some words. */
// @__NO_SIDE_EFFECTS__
export const oneOf = <const Words extends readonly string[]>(words: Words) =>
  v.picklist(words, `must be one of ${words.join(', ')}`);

const codes: Readonly<Record<string, FieldFaultCode>> = {
  string: 'WRONG_TYPE',
  picklist: 'UNKNOWN_VALUE',
};

const toFault = ({ type, path, message }: v.BaseIssue<unknown>): FieldFault => ({
  field: String(path?.[0]?.key),
  code: codes[type] ?? (type as FieldFaultCode),
  rule: message,
});

/**
 * Validates a value by a schema.
 * @returns its value in the schema's form, or everything that is wrong with it
 */
export const validate = <Schema extends v.GenericSchema>(
  schema: Schema,
  value: unknown,
): { output: v.InferOutput<Schema> } | { faults: readonly FieldFault[] } => {
  const { success, output, issues } = v.safeParse(schema, value);
  return success ? { output } : { faults: issues.map(toFault) };
};

/** Whether a field is absent, null or empty. A password may consist of white space. */
const isMissing = (field: string, value: unknown) =>
  value == null ||
  (typeof value === 'string' && (field === 'password' ? value : value.trim()) === '');

type BodySchema = v.ObjectSchema<v.ObjectEntries, undefined>;

const isRequired = ({ type }: v.ObjectEntries[string]) => !/optional|nullish/.test(type);

/** Whether a field that must be there is missing, null or empty. */
const lacks = ({ entries }: BodySchema, field: string, body: Fields) =>
  isRequired(entries[field] as v.ObjectEntries[string]) && isMissing(field, body[field]);

/** All faults of a body, in the order of its schema. A field without a fault is not missing. */
export const faultsIn = (schema: BodySchema, body: Fields, found: readonly FieldFault[]) =>
  Object.keys(schema.entries).flatMap((field): readonly FieldFault[] => {
    const own = found.filter((fault) => fault.field === field);
    return own.length > 0 && lacks(schema, field, body)
      ? [{ field, code: 'REQUIRED', rule: 'is required' }]
      : own;
  });

/**
 * A body in the form of its schema.
 * @param whenMissing the error's code when a field is missing, null or empty
 * @throws {DomainError} that code or FIELD_INVALID, with all faults
 */
export const parseBody = <Schema extends BodySchema>(
  schema: Schema,
  body: Fields,
  whenMissing: ErrorCode = 'FIELD_INVALID',
): v.InferOutput<Schema> => {
  const validated = validate(schema, body);
  if ('output' in validated) return validated.output;
  const faults = faultsIn(schema, body, validated.faults);
  const [first] = faults;
  // An unknown role is reported before a missing field.
  const tellsMissing = first?.field !== 'role' && faults.some(({ code }) => code === 'REQUIRED');
  if (tellsMissing) throw new DomainError(whenMissing, { faults });
  throw new DomainError('FIELD_INVALID', { message: `${first?.field} ${first?.rule}`, faults });
};

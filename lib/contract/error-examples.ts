import * as v from 'valibot';
import { type ErrorCode, errorCodes, httpErrors } from '../errors.ts';
import { validate } from '../validation.ts';
import type { Description, Operation } from './operation.ts';

type Json = Readonly<Record<string, unknown>>;

/** An error as it is by default, or as problem details. */
export type ErrorForm = 'plain' | 'problem';

/** An example of an error, before it has a form. */
interface Example {
  readonly title: string | undefined;
  readonly fault?: Json;
  readonly errors?: readonly Json[];
}

const missing = (field: string) => [
  { pointer: `#/${field}`, code: 'REQUIRED', detail: `${field} is required` },
];

/** What is missing, in the example of an error that says so. */
const missingFields: Partial<Record<ErrorCode, readonly Json[]>> = {
  FIELDS_REQUIRED: missing('email'),
  CREDENTIALS_REQUIRED: missing('password'),
  EMAIL_REQUIRED: missing('email'),
  TOKEN_AND_PASSWORD_REQUIRED: missing('password'),
  CURRENT_PASSWORD_REQUIRED: missing('currentPassword'),
  NAME_AND_EMAIL_REQUIRED: missing('name'),
};

/** Longer than most fields may be, and no value that a parameter may have. */
const wrong = `${'x'.repeat(300)}@example.org`;

/** The first fault of an object whose fields are made wrong one at a time. */
const firstFault = (schema: v.GenericSchema, valid: Json, fields: readonly string[]) => {
  const faults = fields.flatMap((field) => {
    const validated = validate(schema, { ...valid, [field]: wrong });
    return 'faults' in validated ? validated.faults : [];
  });
  const [first] = faults;
  if (!first) throw new Error(`No rule of ${fields.join(', ')} can be broken by a text.`);
  return { ...first, detail: `${first.field} ${first.rule}` };
};

const invalidField = (
  { body: ofOperation }: Operation,
  { body = ofOperation, bodyExample = {} }: Description,
): Example => {
  if (!body) throw new Error('An operation without a body has no field that could be invalid.');
  const { field, code, detail } = firstFault(body, bodyExample, Object.keys(bodyExample));
  return { title: detail, errors: [{ pointer: `#/${field}`, code, detail }] };
};

const invalidParameter = ({ query = {} }: Operation): Example => ({
  title: firstFault(v.object(query), {}, Object.keys(query)).detail,
});

const storageFault = ({ storageFault }: Operation): Example => {
  const [title, field = 'err'] = storageFault ?? [];
  return { title, fault: { [field]: 'ECONNREFUSED' } };
};

/** Of errors that name what an operation takes, or what it does: each operation has its own. */
const ownExamples: Partial<
  Record<ErrorCode, (operation: Operation, description: Description) => Example>
> = {
  FIELD_INVALID: invalidField,
  PARAMETER_INVALID: invalidParameter,
  STORAGE_FAULT: storageFault,
};

const sharedExample = (code: ErrorCode): Example => {
  const { message: title, field } = httpErrors[code];
  const errors = missingFields[code];
  return {
    title,
    ...(field ? { fault: { [field]: 'ECONNREFUSED' } } : {}),
    ...(errors ? { errors } : {}),
  };
};

const inBothForms = (
  code: ErrorCode,
  { title, fault, errors }: Example,
): Record<ErrorForm, Json> => {
  const { status } = httpErrors[code];
  return {
    plain: { message: title, ...fault },
    problem: {
      ...{ type: `/docs#${code}`, title, status, code },
      ...(errors ? { errors } : {}),
      ...(status === 429 ? { retryAfter: 30 } : {}),
      ...fault,
    },
  };
};

/** The example of an error in both forms, where it depends on the operation. */
export const ownExample = (
  code: ErrorCode,
  operation: Operation,
  description: Description,
): Record<ErrorForm, Json> | undefined => {
  const make = ownExamples[code];
  return make && inBothForms(code, make(operation, description));
};

/** Under which name the document keeps an error's example. */
export const exampleName = (code: ErrorCode, form: ErrorForm): string =>
  form === 'plain' ? code : `${code}.problem`;

/** The examples that operations share. */
export const sharedExamples = (): Json =>
  Object.fromEntries(
    errorCodes
      .filter((code) => !(code in ownExamples))
      .flatMap((code) =>
        (['plain', 'problem'] as const).map((form) => [
          exampleName(code, form),
          { value: inBothForms(code, sharedExample(code))[form] },
        ]),
      ),
  );

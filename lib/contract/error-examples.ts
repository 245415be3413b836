import * as v from 'valibot';
import { type ErrorCode, errorCodes, httpErrors } from '../errors.ts';
import { validate } from '../validation.ts';
import type { Description, Operation } from './operation.ts';

type Json = Readonly<Record<string, unknown>>;

/** The form of an error: the default one, or problem details. */
export type ErrorForm = 'plain' | 'problem';

/** An example of an error, of which both forms are made. */
interface Example {
  readonly title: string | undefined;
  readonly fault?: Json;
  readonly errors?: readonly Json[];
}

const missing = (field: string) => [
  { pointer: `#/${field}`, code: 'REQUIRED', detail: `${field} is required` },
];

/** The fields that are missing in the examples of errors about missing fields. */
const missingFields: Partial<Record<ErrorCode, readonly Json[]>> = {
  FIELDS_REQUIRED: missing('email'),
  CREDENTIALS_REQUIRED: missing('password'),
  EMAIL_REQUIRED: missing('email'),
  TOKEN_AND_PASSWORD_REQUIRED: missing('password'),
  CURRENT_PASSWORD_REQUIRED: missing('currentPassword'),
  REFRESH_TOKEN_REQUIRED: missing('refreshToken'),
  CODE_REQUIRED: missing('code'),
  NAME_AND_EMAIL_REQUIRED: missing('name'),
};

/** A text that is too long for most fields, and not allowed for any parameter. */
const wrong = `${'x'.repeat(300)}@example.org`;

/** The first fault that is found when the fields of a valid object are made wrong one at a time. */
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

/** The errors whose example depends on the operation. */
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
      type: `/docs#${code}`,
      title,
      status,
      code,
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

/** The name of an error's example in the document. */
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

import {
  type ErrorCode,
  errorCodes,
  type FieldFault,
  httpErrors,
  problemOfField,
} from '../ground/errors.ts';
import type { Contract, Description } from './contract.ts';
import type { Json } from './json-schema.ts';

export type ErrorForm = 'plain' | 'problem';

const exampleFault = 'ECONNREFUSED';

export function ownExample(
  code: ErrorCode,
  { storageFault = ['', 'err'] }: Contract,
  { bodyExample = {} }: Description,
): Record<ErrorForm, Json> | undefined {
  if (code === 'STORAGE_FAULT') {
    const [title, field] = storageFault;
    return bothForms(code, title, { fault: { [field]: exampleFault } });
  }
  if (code !== 'FIELD_INVALID') return undefined;
  // A number breaks the rule of every field, so the example need not depend on the field.
  const [field = ''] = Object.keys(bodyExample);
  const faults = [{ field, code: 'WRONG_TYPE', rule: 'must be a string' }] as const;
  return bothForms(code, `${field} must be a string`, { faults });
}

export function sharedExamples(): Readonly<Record<string, Json>> {
  return Object.fromEntries(
    errorCodes.flatMap((code) =>
      Object.entries(sharedExample(code)).map(([form, value]) => [
        exampleName(code, form as ErrorForm),
        { value },
      ]),
    ),
  );
}

export function exampleName(code: ErrorCode, form: ErrorForm): string {
  return form === 'plain' ? code : `${code}.problem`;
}

function bothForms(
  code: ErrorCode,
  title: string | undefined,
  { fault = {}, faults = [] }: { fault?: Json; faults?: readonly FieldFault[] } = {},
): Record<ErrorForm, Json> {
  const { status } = httpErrors[code];
  return {
    plain: { message: title, ...fault },
    problem: {
      type: `/docs#${code}`,
      title,
      status,
      code,
      ...(faults.length > 0 ? { errors: faults.map(problemOfField) } : {}),
      ...(status === 429 ? { retryAfter: 30 } : {}),
      ...fault,
    },
  };
}

/** The field that the body lacks in the example of each error. */
const missing: Partial<Record<ErrorCode, string>> = {
  FIELDS_REQUIRED: 'name',
  CREDENTIALS_REQUIRED: 'email',
  NAME_AND_EMAIL_REQUIRED: 'name',
  EMAIL_REQUIRED: 'email',
  TOKEN_AND_PASSWORD_REQUIRED: 'token',
  REFRESH_TOKEN_REQUIRED: 'refreshToken',
  CURRENT_PASSWORD_REQUIRED: 'currentPassword',
  CODE_REQUIRED: 'code',
  ID_TOKEN_REQUIRED: 'idToken',
};

function sharedExample(code: ErrorCode) {
  const { message = 'cursor is invalid', field } = httpErrors[code];
  const lacking = missing[code];
  return bothForms(code, message, {
    ...(field ? { fault: { [field]: exampleFault } } : {}),
    ...(lacking
      ? { faults: [{ field: lacking, code: 'REQUIRED', rule: 'is required' } as const] }
      : {}),
  });
}

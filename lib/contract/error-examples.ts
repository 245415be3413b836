import { type ErrorCode, errorCodes, httpErrors, type StorageFault } from '../errors.ts';

type Json = Readonly<Record<string, unknown>>;

/** An error as it is by default, or as problem details. */
export type ErrorForm = 'plain' | 'problem';

const sentences: Partial<Record<ErrorCode, string>> = {
  FIELD_INVALID: 'name must be at most 100 characters',
  PARAMETER_INVALID: 'limit must be a whole number from 1 to 100',
};

const fieldErrors: Partial<Record<ErrorCode, readonly Json[]>> = {
  FIELD_INVALID: [
    { pointer: '#/name', code: 'TOO_LONG', detail: 'name must be at most 100 characters' },
  ],
  FIELDS_REQUIRED: [{ pointer: '#/email', code: 'REQUIRED', detail: 'email is required' }],
  CREDENTIALS_REQUIRED: [
    { pointer: '#/password', code: 'REQUIRED', detail: 'password is required' },
  ],
  EMAIL_REQUIRED: [{ pointer: '#/email', code: 'REQUIRED', detail: 'email is required' }],
  TOKEN_AND_PASSWORD_REQUIRED: [
    { pointer: '#/password', code: 'REQUIRED', detail: 'password is required' },
  ],
  CURRENT_PASSWORD_REQUIRED: [
    { pointer: '#/currentPassword', code: 'REQUIRED', detail: 'currentPassword is required' },
  ],
  NAME_AND_EMAIL_REQUIRED: [{ pointer: '#/name', code: 'REQUIRED', detail: 'name is required' }],
};

/**
 * An error's example in both forms.
 * @param storageFault what an operation says when the store fails, of STORAGE_FAULT only
 */
export const exampleOf = (
  code: ErrorCode,
  storageFault?: StorageFault,
): Record<ErrorForm, Json> => {
  const { status, message = sentences[code], field } = httpErrors[code];
  const [title, faultField] = storageFault ?? [message, field];
  const fault = faultField ? { [faultField]: 'ECONNREFUSED' } : {};
  const errors = fieldErrors[code];
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

/** Under which name the document keeps an error's example. */
export const exampleName = (code: ErrorCode, form: ErrorForm): string =>
  form === 'plain' ? code : `${code}.problem`;

/** The examples of all errors. Nothing refers to that of a store's fault: each operation has its own. */
export const errorExamples = (): Json =>
  Object.fromEntries(
    errorCodes.flatMap((code) =>
      (['plain', 'problem'] as const).map((form) => [
        exampleName(code, form),
        { value: exampleOf(code)[form] },
      ]),
    ),
  );

/**
 * Every way in which an operation can be refused or can fail, by a stable code, and the one table
 * that maps each code to HTTP. Domain code throws a code and knows no status.
 */

/** The name of the one further field of a 500 body (functions/README.md, Errors). */
export type FaultField = 'err' | 'hashErr' | 'insertErr';

/** The body of a 500 after a fault of the store: its message, and the field that names the fault. */
export type StorageFault = readonly [message: string, field: FaultField];

interface HttpError {
  readonly status: number;
  /** Absent where the error's own message says which field or parameter breaks which rule. */
  readonly message?: string;
  readonly field?: FaultField;
}

const table = {
  NO_TOKEN: { status: 401, message: 'No token provided' },
  TOKEN_EXPIRED: { status: 401, message: 'Token has expired' },
  TOKEN_INVALID: { status: 401, message: 'Invalid token' },
  FORBIDDEN: { status: 403, message: 'Forbidden' },

  BODY_MEDIA_TYPE: { status: 400, message: 'Content-Type must be application/json' },
  // The message of API Gateway for a body of more than 10 MB.
  BODY_TOO_LARGE: { status: 413, message: 'Request Entity Too Large' },
  BODY_ENCODING: { status: 400, message: 'Request body is not valid UTF-8' },
  BODY_MALFORMED: { status: 400, message: 'Request body is not valid JSON' },
  BODY_TOO_DEEP: { status: 400, message: 'Request body is nested too deeply' },
  BODY_FORBIDDEN_KEY: { status: 400, message: 'Request body holds a forbidden key' },
  BODY_NOT_OBJECT: { status: 400, message: 'Request body must be a JSON object' },

  FIELDS_REQUIRED: { status: 400, message: 'All fields are required' },
  CREDENTIALS_REQUIRED: { status: 400, message: 'Email and password are required' },
  NAME_AND_EMAIL_REQUIRED: { status: 400, message: 'Name and email required' },
  EMAIL_REQUIRED: { status: 400, message: 'Email is required' },
  TOKEN_AND_PASSWORD_REQUIRED: { status: 400, message: 'Token and password are required' },
  REFRESH_TOKEN_REQUIRED: { status: 400, message: 'Refresh token is required' },
  CURRENT_PASSWORD_REQUIRED: { status: 400, message: 'Current password is required' },
  CODE_REQUIRED: { status: 400, message: 'Code is required' },
  NO_FIELDS_TO_UPDATE: { status: 400, message: 'No fields to update' },
  FIELD_INVALID: { status: 400 },
  PARAMETER_INVALID: { status: 400 },
  RESET_TOKEN_INVALID: { status: 400, message: 'Invalid or expired reset token' },
  ID_TOKEN_REQUIRED: { status: 400, message: 'ID token and nonce are required' },
  TOO_MANY_IDENTITIES: { status: 400, message: 'Too many identities' },
  VERIFICATION_TOKEN_INVALID: { status: 400, message: 'Invalid or expired verification token' },

  CURRENT_PASSWORD_WRONG: { status: 403, message: 'Current password is wrong' },
  ACCOUNT_SUSPENDED: { status: 403, message: 'Account suspended' },
  EMAIL_NOT_VERIFIED: { status: 403, message: 'Email is not verified' },
  CODE_WRONG: { status: 403, message: 'Invalid code' },
  SECOND_FACTOR_REQUIRED: { status: 403, message: 'Second factor required' },
  LOGIN_CODE_REQUIRED: { status: 401, message: 'Code required' },
  LOGIN_CODE_WRONG: { status: 401, message: 'Invalid code' },
  REFRESH_TOKEN_INVALID: { status: 401, message: 'Invalid refresh token' },
  IDENTITY_TOKEN_INVALID: { status: 401, message: 'Invalid identity token' },
  INVALID_CREDENTIALS: { status: 401, message: 'Invalid credentials' },
  USER_NOT_REGISTERED: { status: 404, message: 'User is not registered' },
  SESSION_NOT_FOUND: { status: 404, message: 'Session not found' },
  IDENTITY_NOT_FOUND: { status: 404, message: 'Identity not found' },
  USER_NOT_FOUND: { status: 404, message: 'User not found' },
  SECOND_FACTOR_NOT_FOUND: { status: 404, message: 'Second factor not found' },
  // The message of API Gateway for an unknown path.
  FILE_NOT_FOUND: { status: 404, message: 'Not Found' },
  AUDIT_NOT_SEALED: { status: 404, message: 'The audit trail is not sealed' },
  EMAIL_REGISTERED: { status: 409, message: 'Email already registered' },
  IDENTITY_LINKED: { status: 409, message: 'Identity already linked' },
  LAST_LOGIN: { status: 409, message: 'The last way to log in cannot be removed' },
  LAST_ADMIN: { status: 409, message: 'The last admin cannot be deleted' },
  LAST_ADMIN_SUSPENSION: { status: 409, message: 'The last admin cannot be suspended' },
  SECOND_FACTOR_ENABLED: { status: 409, message: 'Second factor already enabled' },
  EMAIL_EXISTS: { status: 409, message: 'Email already exists' },
  TOO_MANY_ATTEMPTS: { status: 429, message: 'Too many attempts, please try again later' },
  IDENTITY_PROVIDER_FAULT: { status: 503, message: 'Identity provider cannot be reached' },
  MEMORY_FULL: { status: 503, message: 'Too many users in memory' },

  HASHING_FAULT: { status: 500, message: 'Error hashing password', field: 'hashErr' },
  TOKEN_FAULT: { status: 500, message: 'No token provided, please try again', field: 'err' },
  MAIL_FAULT: { status: 500, message: 'Error requesting mail', field: 'err' },
  /** Each operation has its own message and field: see `storageFault` in lib/contract/contract.ts. */
  STORAGE_FAULT: { status: 500, field: 'err' },
  UNEXPECTED_FAULT: { status: 500, message: 'Internal server error', field: 'err' },
} as const satisfies Record<string, HttpError>;

export type ErrorCode = keyof typeof table;

export const errorCodes = Object.keys(table) as readonly ErrorCode[];

export const httpErrors: Readonly<Record<ErrorCode, HttpError>> = table;

/** The kind of a field's fault, for machines. */
export type FieldFaultCode =
  | 'REQUIRED'
  | 'WRONG_TYPE'
  | 'NOT_WELL_FORMED'
  | 'EMPTY'
  | 'TOO_SHORT'
  | 'TOO_LONG'
  | 'INVALID_FORMAT'
  | 'UNKNOWN_VALUE';

/** A field of a body that breaks a rule; `rule` completes the sentence that the name begins. */
export interface FieldFault {
  readonly field: string;
  readonly code: FieldFaultCode;
  readonly rule: string;
}

/** The same in problem details (RFC 9457; functions/README.md, Problem details). */
export const problemOfField = ({ field, code, rule }: FieldFault) => ({
  pointer: `#/${field}`,
  code,
  detail: `${field} ${rule}`,
});

/**
 * An operation that was refused, or that a fault ended.
 *
 * `message` is shown to the caller only where the table has none. The cause of a fault is kept in
 * `cause`, which is never part of a response: see {@link faultName}.
 */
export class DomainError extends Error {
  override readonly name = 'DomainError';
  readonly code: ErrorCode;
  /** Seconds after which the caller may try again. */
  readonly retryAfter: number | undefined;
  /** All faults of the body that was refused. */
  readonly faults: readonly FieldFault[];
  /** Whether a write was sent, and it is not known whether it was made. */
  readonly mayHaveHappened: boolean;

  constructor(
    code: ErrorCode,
    options: {
      message?: string;
      cause?: unknown;
      retryAfter?: number | undefined;
      faults?: readonly FieldFault[];
      mayHaveHappened?: boolean;
    } = {},
  ) {
    super(options.message ?? httpErrors[code].message ?? code, {
      cause: options.cause,
    });
    this.code = code;
    this.retryAfter = options.retryAfter;
    this.faults = options.faults ?? [];
    this.mayHaveHappened = options.mayHaveHappened ?? false;
  }
}

/** A field that breaks a rule; `rule` completes the sentence that the name begins. */
export const invalidField = (
  field: string,
  rule: string,
  code: FieldFaultCode = 'INVALID_FORMAT',
): DomainError =>
  new DomainError('FIELD_INVALID', {
    message: `${field} ${rule}`,
    faults: [{ field, code, rule }],
  });

/** The error, with a code of its own, that a body lacks a field. */
export const missingField = (code: ErrorCode, field: string): DomainError =>
  new DomainError(code, { faults: [{ field, code: 'REQUIRED', rule: 'is required' }] });

/** A query parameter that breaks a rule; `rule` completes the sentence that the name begins. */
export const invalidParameter = (name: string, rule: string): DomainError =>
  new DomainError('PARAMETER_INVALID', { message: `${name} ${rule}` });

/** A cause that this code names, rather than the SDK. */
export const namedError = (name: string): Error => Object.assign(new Error(), { name });

const safeName = /^[\w.:-]{1,64}$/;

/**
 * The short public name of a fault, such as `ECONNREFUSED` or `ResourceNotFoundException`: the
 * deepest cause's code or class name, never its message, which may quote what it was given.
 */
export const faultName = (error: unknown): string => {
  let found = 'UnknownError';
  for (let at = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth += 1) {
    const { code } = at as { code?: unknown };
    for (const name of [at.name, code]) {
      if (typeof name === 'string' && safeName.test(name) && !(at instanceof DomainError)) {
        found = name;
      }
    }
  }
  return found;
};

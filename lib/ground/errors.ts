/**
 * Every way in which an operation can be refused or can fail, each with a stable code. No other table maps codes to
 * HTTP: domain code throws a code and knows no status.
 */

/** The name of the field of a 500 body that follows the message (functions/README.md, Errors). */
export type FaultField = 'err' | 'hashErr' | 'insertErr';

/** The body of a 500 after a fault of the store: its message, and the field that names the fault. */
export type StorageFault = readonly [message: string, field: FaultField];

interface HttpError {
  readonly status: number;
  /** Absent if the error's own message says which field or parameter breaks which rule. */
  readonly message?: string;
  readonly field?: FaultField;
}

// biome-ignore format: a table
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
  IDEMPOTENCY_KEY_REQUIRED: { status: 400, message: 'Idempotency-Key is required' },
  IDEMPOTENCY_KEY_INVALID: { status: 400, message: 'Idempotency-Key must be 1 to 64 visible ASCII characters' },
  RESET_TOKEN_INVALID: { status: 400, message: 'Invalid or expired reset token' },
  PASSWORD_OR_INVITATION: { status: 400, message: 'Send either a password or an invitation' },
  ADMIN_INVITED: { status: 400, message: 'Nobody is invited as an admin' },
  ID_TOKEN_REQUIRED: { status: 400, message: 'ID token and nonce are required' },
  TOO_MANY_IDENTITIES: { status: 400, message: 'Too many identities' },
  PASSKEY_INVALID: { status: 400, message: 'Invalid passkey' },
  TOO_MANY_PASSKEYS: { status: 400, message: 'Too many passkeys' },
  VERIFICATION_TOKEN_INVALID: { status: 400, message: 'Invalid or expired verification token' },
  CLIENT_ADDRESS_INVALID: { status: 400, message: 'Invalid client address' },

  CURRENT_PASSWORD_WRONG: { status: 403, message: 'Current password is wrong' },
  ACCOUNT_SUSPENDED: { status: 403, message: 'Account suspended' },
  EMAIL_NOT_VERIFIED: { status: 403, message: 'Email is not verified' },
  CODE_WRONG: { status: 403, message: 'Invalid code' },
  SECOND_FACTOR_REQUIRED: { status: 403, message: 'Second factor required' },
  LOGIN_CODE_REQUIRED: { status: 401, message: 'Code required' },
  LOGIN_CODE_WRONG: { status: 401, message: 'Invalid code' },
  REFRESH_TOKEN_INVALID: { status: 401, message: 'Invalid refresh token' },
  IDENTITY_TOKEN_INVALID: { status: 401, message: 'Invalid identity token' },
  LOGIN_PASSKEY_INVALID: { status: 401, message: 'Invalid passkey' },
  PASSKEY_UNKNOWN: { status: 401, message: 'Invalid passkey' },
  INVALID_CREDENTIALS: { status: 401, message: 'Invalid credentials' },
  USER_NOT_REGISTERED: { status: 404, message: 'User is not registered' },
  SESSION_NOT_FOUND: { status: 404, message: 'Session not found' },
  IDENTITY_NOT_FOUND: { status: 404, message: 'Identity not found' },
  PASSKEY_NOT_FOUND: { status: 404, message: 'Passkey not found' },
  MACHINE_NOT_FOUND: { status: 404, message: 'Machine not found' },
  USER_NOT_FOUND: { status: 404, message: 'User not found' },
  SECOND_FACTOR_NOT_FOUND: { status: 404, message: 'Second factor not found' },
  // The message of API Gateway for an unknown path.
  FILE_NOT_FOUND: { status: 404, message: 'Not Found' },
  AUDIT_NOT_SEALED: { status: 404, message: 'The audit trail is not sealed' },
  AUDIT_ENTRY_NOT_FOUND: { status: 404, message: 'Audit entry not found' },
  EMAIL_REGISTERED: { status: 409, message: 'Email already registered' },
  IDENTITY_LINKED: { status: 409, message: 'Identity already linked' },
  INVITATION_NOT_ACCEPTED: { status: 409, message: 'Invitation not accepted' },
  WAY_IN_EXISTS: { status: 409, message: 'Already has a way in' },
  INVITED_SUSPENDED: { status: 409, message: 'Account suspended' },
  PASSKEY_REGISTERED: { status: 409, message: 'Passkey already registered' },
  LAST_LOGIN: { status: 409, message: 'The last way to log in cannot be removed' },
  LAST_ADMIN: { status: 409, message: 'The last admin cannot be deleted' },
  LAST_ADMIN_SUSPENSION: { status: 409, message: 'The last admin cannot be suspended' },
  SECOND_FACTOR_ENABLED: { status: 409, message: 'Second factor already enabled' },
  MACHINES_LIMITED: { status: 409, message: 'Too many machines' },
  IDEMPOTENCY_KEY_USED: { status: 409, message: 'Idempotency key already used' },
  EMAIL_EXISTS: { status: 409, message: 'Email already exists' },
  WHOLE_CHECK_REQUESTED: { status: 409, message: 'A whole check was requested within a day' },
  TOO_MANY_ATTEMPTS: { status: 429, message: 'Too many attempts, please try again later' },
  MAILS_LIMITED: { status: 429, message: 'Too many mails' },
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

/**
 * The meaning of each code, in one line, for the document and its page. It is a separate table so that other functions
 * do not bundle it.
 */
// biome-ignore format: a table
export const errorMeanings: Readonly<Record<ErrorCode, string>> = {
  NO_TOKEN: 'The request has no Authorization header that begins with `Bearer` and a space.',
  TOKEN_EXPIRED: 'The token has expired: log in again.',
  TOKEN_INVALID: 'The service did not issue this token, or the token was altered, or its session has ended.',
  FORBIDDEN: 'The caller is known, but may not do this.',
  BODY_MEDIA_TYPE: 'The body is not declared as JSON.',
  BODY_TOO_LARGE: 'The body is larger than 64 KiB.',
  BODY_ENCODING: 'The body is not UTF-8.',
  BODY_MALFORMED: 'The body is not JSON.',
  BODY_TOO_DEEP: 'The body is nested too deeply.',
  BODY_FORBIDDEN_KEY: 'The body has a key that could change a prototype.',
  BODY_NOT_OBJECT: 'The body is JSON, but not an object.',
  FIELDS_REQUIRED: 'A name, an email or a password is missing or empty.',
  CREDENTIALS_REQUIRED: 'An email or a password is missing or empty.',
  NAME_AND_EMAIL_REQUIRED: 'A name or an email is missing or empty.',
  EMAIL_REQUIRED: 'The email is missing or empty.',
  TOKEN_AND_PASSWORD_REQUIRED: 'A token or a password is missing or empty.',
  REFRESH_TOKEN_REQUIRED: 'The refresh token is missing or empty.',
  CURRENT_PASSWORD_REQUIRED: 'The current password is missing or empty.',
  CODE_REQUIRED: 'The code is missing or empty.',
  NO_FIELDS_TO_UPDATE: 'The body has none of the fields that can be changed.',
  FIELD_INVALID: 'A field breaks its rule; `errors` lists all such fields.',
  PARAMETER_INVALID: 'A query parameter is unknown, repeated or breaks its rule.',
  IDEMPOTENCY_KEY_REQUIRED: 'The request has no header `Idempotency-Key`.',
  IDEMPOTENCY_KEY_INVALID: 'The header `Idempotency-Key` breaks its rule.',
  RESET_TOKEN_INVALID: 'The token of a password reset is unknown, altered, used or expired, or a newer one was mailed.',
  PASSWORD_OR_INVITATION: 'An invited user chooses the password by the mailed link.',
  ADMIN_INVITED: 'An invitation would be a way to become an admin: invite a user, and give the role afterwards.',
  ID_TOKEN_REQUIRED: 'An ID token or its nonce is missing or empty.',
  TOO_MANY_IDENTITIES: 'Ten identities are linked to the user already.',
  PASSKEY_INVALID: 'The credential does not verify, or its challenge is old, was used, or is of another session.',
  TOO_MANY_PASSKEYS: 'The user has ten passkeys already.',
  VERIFICATION_TOKEN_INVALID: 'The token of a mailed link is unknown, altered or expired, or a newer one was mailed.',
  CLIENT_ADDRESS_INVALID: 'Machine-Key is not the key of a machine with the scope `client-address`, or Client-Address is not one IP address.',
  CURRENT_PASSWORD_WRONG: 'The current password is wrong.',
  ACCOUNT_SUSPENDED: 'Password and code are right, but an admin has suspended the user.',
  EMAIL_NOT_VERIFIED: 'The address of the user is not verified: open the link that was mailed.',
  CODE_WRONG: 'The code is wrong, was used before, or belongs to another half minute.',
  SECOND_FACTOR_REQUIRED: 'Admins and auditors need a second factor: enrol one, or log in by a passkey or with a code.',
  LOGIN_CODE_REQUIRED: 'The password is right, and this user logs in with a code too.',
  LOGIN_CODE_WRONG: 'The password is right, but the code is wrong or was used before.',
  REFRESH_TOKEN_INVALID: 'The refresh token is unknown, or was used before, or its session has ended: log in again.',
  IDENTITY_TOKEN_INVALID: 'The ID token or its nonce is not valid, or was used before, or belongs to another account.',
  LOGIN_PASSKEY_INVALID: 'The credential, its counter or its challenge does not verify.',
  PASSKEY_UNKNOWN: 'Nobody has the credential here; another service may have it.',
  INVALID_CREDENTIALS: 'The password is wrong or, with private accounts, the address is unknown or not verified.',
  USER_NOT_REGISTERED: 'No user has this email address.',
  SESSION_NOT_FOUND: 'The user has no session of this id, or it has ended.',
  IDENTITY_NOT_FOUND: 'The user has no identity of this id.',
  PASSKEY_NOT_FOUND: 'The user has no passkey of this id.',
  MACHINE_NOT_FOUND: 'No machine has this id.',
  USER_NOT_FOUND: 'No user has this id.',
  SECOND_FACTOR_NOT_FOUND: 'The user has no second factor, or none that waits for its first code.',
  FILE_NOT_FOUND: 'The page has no file of this name.',
  AUDIT_NOT_SEALED: 'This service keeps nothing, and so does not seal its audit trail. Or sealing is paused, so that nothing can be checked.',
  AUDIT_ENTRY_NOT_FOUND: 'Neither the table nor the archive has an entry with this id.',
  EMAIL_REGISTERED: 'Another user has this email address.',
  IDENTITY_LINKED: 'The identity is linked to an account already.',
  INVITATION_NOT_ACCEPTED: 'An invited user becomes an admin or an auditor only after a password was set.',
  WAY_IN_EXISTS: 'The user has a password or an identity, and needs no invitation.',
  INVITED_SUSPENDED: 'An admin has suspended the user, who is invited only when that is lifted.',
  PASSKEY_REGISTERED: 'Somebody has the credential already.',
  LAST_LOGIN: 'Without this identity the user could not log in: set a password first.',
  LAST_ADMIN: 'The caller is the only admin, without whom nobody could manage users.',
  LAST_ADMIN_SUSPENSION: 'Nobody else is an admin, without whom nobody could manage users.',
  SECOND_FACTOR_ENABLED: 'The caller has a second factor already: remove it first.',
  MACHINES_LIMITED: 'There are as many machines as there may be: remove one first.',
  IDEMPOTENCY_KEY_USED: 'The key was sent with other entries before.',
  EMAIL_EXISTS: 'Another user of the in-memory variant has this email address.',
  WHOLE_CHECK_REQUESTED: 'An admin has requested a check of the whole archive less than a day ago.',
  TOO_MANY_ATTEMPTS: 'Too many attempts: wait for the seconds that `Retry-After` says.',
  MAILS_LIMITED: 'Too many mails: wait for the seconds that `Retry-After` says. Nothing was changed.',
  IDENTITY_PROVIDER_FAULT: 'The keys of the issuer cannot be read: try again later.',
  MEMORY_FULL: 'The memory holds as many users as it can.',
  HASHING_FAULT: 'A password could not be hashed.',
  TOKEN_FAULT: 'No token could be signed.',
  MAIL_FAULT: 'No mail could be asked for: nothing is on its way.',
  STORAGE_FAULT: 'The store failed; the change may have been made.',
  UNEXPECTED_FAULT: 'Something else failed.',
};

/** The kinds of faults of a field, for machines, and the meaning of each. */
export const fieldFaultMeanings = {
  REQUIRED: 'It is missing, null or empty.',
  WRONG_TYPE: 'It is of another JSON type.',
  NOT_WELL_FORMED: 'It has half a surrogate pair.',
  EMPTY: 'It is empty, or shows nothing, as white space does.',
  TOO_SHORT: 'It has too few characters.',
  TOO_LONG: 'It has too many characters.',
  INVALID_FORMAT: 'It does not have the required form.',
  UNKNOWN_VALUE: 'It is not an allowed value.',
} as const;

export type FieldFaultCode = keyof typeof fieldFaultMeanings;

/** A field of a body that breaks a rule; `rule` completes the sentence that the name begins. */
export interface FieldFault {
  /** As in a JSON pointer (RFC 6901): `attributes/plan` is within `attributes`. */
  readonly field: string;
  readonly code: FieldFaultCode;
  readonly rule: string;
}

/** The field in problem details (RFC 9457; functions/README.md, Problem details). */
export function problemOfField(fault: FieldFault) {
  return {
    pointer: `#/${fault.field}`,
    code: fault.code,
    detail: sentenceOf(fault),
  };
}

export function sentenceOf({ field, rule }: Pick<FieldFault, 'field' | 'rule'>): string {
  const name = field.replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~');
  return `${name} ${rule}`;
}

/**
 * An operation that was refused, or that was ended by a fault.
 *
 * `message` is shown to the caller only if the table has no message. The cause of a fault is kept in `cause`, which
 * is never part of a response: see {@link faultName}.
 */
export class DomainError extends Error {
  override readonly name = 'DomainError';
  readonly code: ErrorCode;
  /** Seconds after which the caller may try again. */
  readonly retryAfter: number | undefined;
  readonly faults: readonly FieldFault[];
  /** Whether a write was sent whose outcome is unknown. */
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

export function invalidField(
  field: string,
  rule: string,
  code: FieldFaultCode = 'INVALID_FORMAT',
): DomainError {
  return new DomainError('FIELD_INVALID', {
    message: `${field} ${rule}`,
    faults: [{ field, code, rule }],
  });
}

/** The error for a body that lacks a field; it has a code of its own. */
export function missingField(code: ErrorCode, field: string): DomainError {
  return new DomainError(code, { faults: [{ field, code: 'REQUIRED', rule: 'is required' }] });
}

export function invalidParameter(name: string, rule: string): DomainError {
  return new DomainError('PARAMETER_INVALID', { message: `${name} ${rule}` });
}

/** A cause of a fault, with a name that our own code gives it, and not the SDK. */
export function namedError(name: string): Error {
  return Object.assign(new Error(), { name });
}

const safeName = /^[\w.:-]{1,64}$/;

/**
 * The short public name of a fault, such as `ECONNREFUSED` or `ResourceNotFoundException`: the code or the class name
 * of the deepest cause, never its message, which may quote the input.
 */
export function faultName(error: unknown): string {
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
}

import type { ErrorCode, FieldFaultCode } from '../errors.ts';

/** What each error means, in a line: in the document, on its page and in functions/README.md. */
export const errorMeanings: Readonly<Record<ErrorCode, string>> = {
  NO_TOKEN: 'There is no Authorization header that begins with `Bearer` and a space.',
  TOKEN_EXPIRED: 'The token is past its day: log in again.',
  TOKEN_INVALID: 'The token is none of this service, was altered, or its session was ended.',
  FORBIDDEN: 'The caller is known, but may not do this.',
  BODY_MEDIA_TYPE: 'The body is not declared as JSON.',
  BODY_TOO_LARGE: 'The body is larger than 64 KiB.',
  BODY_ENCODING: 'The body is not UTF-8.',
  BODY_MALFORMED: 'The body is not JSON.',
  BODY_TOO_DEEP: 'The body is nested too deeply.',
  BODY_FORBIDDEN_KEY: 'The body has a key that could change a prototype.',
  BODY_NOT_OBJECT: 'The body is JSON, but no object.',
  FIELDS_REQUIRED: 'A name, an email or a password is missing or empty.',
  CREDENTIALS_REQUIRED: 'An email or a password is missing or empty.',
  NAME_AND_EMAIL_REQUIRED: 'A name or an email is missing or empty.',
  EMAIL_REQUIRED: 'The email is missing or empty.',
  TOKEN_AND_PASSWORD_REQUIRED: 'A token or a password is missing or empty.',
  CURRENT_PASSWORD_REQUIRED: 'A new password or address takes the current password as well.',
  NO_FIELDS_TO_UPDATE: 'The body has no field that can be changed.',
  FIELD_INVALID: 'A field breaks its rule; `errors` has all that do.',
  PARAMETER_INVALID: 'A query parameter is unknown, repeated or breaks its rule.',
  RESET_TOKEN_INVALID:
    'The token of a password reset is unknown, altered, used or expired, or a newer one was mailed.',
  CURRENT_PASSWORD_WRONG: 'The current password is another one.',
  INVALID_CREDENTIALS: 'The password is wrong or, with uniform answers, the address is unknown.',
  USER_NOT_REGISTERED: 'No user has this email address.',
  USER_NOT_FOUND: 'No user has this id.',
  FILE_NOT_FOUND: 'The page has no file of this name.',
  EMAIL_REGISTERED: 'Another user has this email address.',
  EMAIL_EXISTS: 'Another user in memory has this email address.',
  TOO_MANY_ATTEMPTS: 'Too many attempts: wait as long as `retryAfter` says.',
  MEMORY_FULL: 'The memory holds as many users as it can.',
  HASHING_FAULT: 'A password could not be hashed or compared.',
  TOKEN_FAULT: 'No token could be signed.',
  MAIL_FAULT: 'No mail could be asked for: nothing is on its way.',
  STORAGE_FAULT: 'The store failed; the change may have been made.',
  UNEXPECTED_FAULT: 'Something else failed.',
};

/** The same of a field in `errors`. */
export const fieldFaultMeanings: Readonly<Record<FieldFaultCode, string>> = {
  REQUIRED: 'It is missing, null or empty.',
  WRONG_TYPE: 'It is of another JSON type.',
  NOT_WELL_FORMED: 'It has half a surrogate pair.',
  EMPTY: 'It is empty, or white space alone.',
  TOO_SHORT: 'It has too few characters.',
  TOO_LONG: 'It has too many characters.',
  INVALID_FORMAT: 'It does not have the form that it must have.',
  UNKNOWN_VALUE: 'It is none of the values that there are.',
};

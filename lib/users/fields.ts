/** The rules for a name and an email address (functions/README.md, Input). */
import * as v from 'valibot';
import { atMost, type Fields, parseBody, rule, text } from '../validation.ts';

export const name = v.pipe(
  text,
  v.trim(),
  atMost(100),
  v.description('Without the white space around it.'),
  rule({
    code: 'EMPTY',
    holds: (value) => value !== '',
    message: () => 'must not be empty',
    keywords: () => ({ minLength: 1, pattern: '\\S' }),
  }),
);

/** something@something, with one @, and without white space and control characters. */
const emailForm = /^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u;

/** The same as a pattern without `\p{}`, which not every reader of JSON Schema supports. */
const emailPattern =
  '[^\\s@\\u0000-\\u001f\\u007f-\\u009f]+@[^\\s@\\u0000-\\u001f\\u007f-\\u009f]+';

export const email = v.pipe(
  text,
  v.trim(),
  atMost(191),
  v.description(
    'Without the white space around it. Kept as it was given; unique without regard to letter case.',
  ),
  rule({
    code: 'INVALID_FORMAT',
    message: () => 'must be a valid email address',
    holds: (value) => emailForm.test(value),
    keywords: () => ({ pattern: `^\\s*${emailPattern}\\s*$` }),
  }),
);

/** The body of POST /api/password-resets. */
export const resetRequest = v.object({ email });

/** @throws {DomainError} EMAIL_REQUIRED, or FIELD_INVALID */
export const parseResetRequest = (body: Fields): v.InferOutput<typeof resetRequest> =>
  parseBody(resetRequest, body, 'EMAIL_REQUIRED');

/** What a name and an email address may be (functions/README.md, Input). */
import * as v from 'valibot';
import { atMost, rule, text } from '../validation.ts';

/** A name that may be empty. */
export const anyName = v.pipe(
  text,
  v.trim(),
  atMost(100),
  v.description('Without the white space around it.'),
);

export const name = v.pipe(
  anyName,
  rule({
    code: 'EMPTY',
    holds: (value) => value !== '',
    message: () => 'must not be empty',
    keywords: () => ({ minLength: 1, pattern: '\\S' }),
  }),
);

/** something@something, one @, neither white space nor a control character anywhere. */
const emailForm = /^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u;

/** The same in the words that all readers of patterns know. */
const emailPattern =
  '[^\\s@\\u0000-\\u001f\\u007f-\\u009f]+@[^\\s@\\u0000-\\u001f\\u007f-\\u009f]+';

const emailText = v.pipe(
  text,
  v.trim(),
  atMost(191),
  v.description(
    'Without the white space around it. Kept as it was given; unique without regard to letter case.',
  ),
);

const emailRule = {
  code: 'INVALID_FORMAT',
  message: () => 'must be a valid email address',
} as const;

export const email = v.pipe(
  emailText,
  rule({
    ...emailRule,
    holds: (value) => emailForm.test(value),
    keywords: () => ({ pattern: `^\\s*${emailPattern}\\s*$` }),
  }),
);

/** An email address, or nothing. */
export const anyEmail = v.pipe(
  emailText,
  rule({
    ...emailRule,
    holds: (value) => value === '' || emailForm.test(value),
    keywords: () => ({ pattern: `^\\s*(${emailPattern})?\\s*$` }),
  }),
);

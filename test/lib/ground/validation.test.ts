import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { DomainError } from '../../../lib/ground/errors.ts';
import {
  atLeast,
  atMost,
  isReadable,
  oneOf,
  parseBody,
  readable,
  rule,
  text,
  validate,
} from '../../../lib/ground/validation.ts';

const errorOf = (work: () => unknown): DomainError | undefined => {
  try {
    work();
    return undefined;
  } catch (error) {
    return error as DomainError;
  }
};

describe('A rule for text', () => {
  it.each([
    ['TOO_LONG', atMost(1), '12', { maxLength: 1 }, 'must be at most 1 character'],
    ['TOO_LONG', atMost(2), '123', { maxLength: 2 }, 'must be at most 2 characters'],
    ['TOO_SHORT', atLeast(() => 1), '', { minLength: 1 }, 'must be at least 1 character'],
    ['TOO_SHORT', atLeast(() => 2), '1', { minLength: 2 }, 'must be at least 2 characters'],
  ])(
    'with the code %s appears in the response and in the document',
    (code, made, broken, keywords, message) => {
      expect(validate(v.object({ field: v.pipe(text, made) }), { field: broken })).toEqual({
        faults: [{ field: 'field', code, rule: message }],
      });
      expect(made.keywords()).toEqual(keywords);
    },
  );

  it('allows a value at its bound', () => {
    const two = v.pipe(
      text,
      atMost(2),
      atLeast(() => 2),
    );

    expect(validate(two, '12')).toEqual({ output: '12' });
    expect(validate(two, '😀😀')).toEqual({ output: '😀😀' });
  });

  it.each([
    [4, 'abcd', true],
    [4, '😀😀', true],
    [5, 'abcde', false],
    [6, '😀😀😀', false],
  ])(
    'lets a text of %i UTF-16 units, such as %j, be read for a bound of one character: %s',
    (_, given, expected) => {
      expect(isReadable(given, 1)).toBe(expected);
    },
  );

  it('on length is the only rule that is broken by text too long to be read', () => {
    const trimmed = v.pipe(
      text,
      readable(1),
      v.trim(),
      atMost(1),
      atLeast(() => 1),
    );

    expect(validate(v.object({ field: trimmed }), { field: '     ' })).toEqual({
      faults: [{ field: 'field', code: 'TOO_LONG', rule: 'must be at most 1 character' }],
    });
    expect(validate(v.object({ field: trimmed }), { field: '  a ' })).toEqual({
      output: { field: 'a' },
    });
  });

  it('adds nothing to the document unless it has keywords', () => {
    const made = rule({ code: 'EMPTY', holds: Boolean, message: () => 'must not be empty' });

    expect(made.keywords()).toEqual({});
  });
});

const body = v.object({
  name: v.pipe(
    text,
    v.trim(),
    atLeast(() => 1),
    atMost(3),
  ),
  role: v.nullish(oneOf(['user', 'admin'])),
  password: v.pipe(
    text,
    atLeast(() => 1),
  ),
  note: v.exactOptional(text),
});
const required = (field: string) => ({ field, code: 'REQUIRED', rule: 'is required' });

describe('The faults of a body', () => {
  const faultsOf = (fields: Readonly<Record<string, unknown>>) => {
    return errorOf(() => parseBody(body, fields))?.faults ?? [];
  };

  it('name each field with a code and a rule, in the order of the fields in the schema', () => {
    expect(faultsOf({ note: '\ud800', password: 7, role: 'root', name: 'long' })).toEqual([
      { field: 'name', code: 'TOO_LONG', rule: 'must be at most 3 characters' },
      { field: 'role', code: 'UNKNOWN_VALUE', rule: 'must be one of user, admin' },
      { field: 'password', code: 'WRONG_TYPE', rule: 'must be a string' },
      { field: 'note', code: 'NOT_WELL_FORMED', rule: 'must be well-formed Unicode' },
    ]);
  });

  it.each([undefined, null, ''])(
    'report a field that is %j as required, and nothing else',
    (none) => {
      expect(faultsOf({ name: none, password: none })).toEqual([
        required('name'),
        required('password'),
      ]);
    },
  );

  it('do not include a required field whose schema allows empty text', () => {
    const lax = v.object({ name: text, note: text });

    expect(errorOf(() => parseBody(lax, { name: 7, note: '' }))?.faults).toEqual([
      { field: 'name', code: 'WRONG_TYPE', rule: 'must be a string' },
    ]);
  });

  it('treat white space as missing, unless the schema allows it', () => {
    expect(faultsOf({ name: ' \t', password: ' ', note: 7 })).toEqual([
      required('name'),
      { field: 'note', code: 'WRONG_TYPE', rule: 'must be a string' },
    ]);
  });

  it('treat white space that is too long to be read as text', () => {
    const bounded = v.object({ name: v.pipe(text, readable(1), v.trim(), atMost(1)) });

    expect(errorOf(() => parseBody(bounded, { name: '     ' }))?.faults).toEqual([
      { field: 'name', code: 'TOO_LONG', rule: 'must be at most 1 character' },
    ]);
  });

  it('treat white space in a password as text, also when the password is too short', () => {
    const longer = v.object({
      password: v.pipe(
        text,
        atLeast(() => 8),
      ),
    });

    expect(errorOf(() => parseBody(longer, { password: ' ' }))?.faults).toEqual([
      { field: 'password', code: 'TOO_SHORT', rule: 'must be at least 8 characters' },
    ]);
  });

  const word = oneOf(['user', 'admin']);
  it.each([v.optional(word), v.exactOptional(word), v.nullish(word)])(
    'never report a field that is $type as required',
    (role) => {
      expect(errorOf(() => parseBody(v.object({ role }), { role: '' }))?.faults).toEqual([
        { field: 'role', code: 'UNKNOWN_VALUE', rule: 'must be one of user, admin' },
      ]);
    },
  );

  it('include the faults of an optional field', () => {
    expect(faultsOf({ name: 'Ada', password: 'p', role: null })).toEqual([]);
    expect(faultsOf({ name: 'Ada', password: 'p', role: '', note: null })).toEqual([
      { field: 'role', code: 'UNKNOWN_VALUE', rule: 'must be one of user, admin' },
      { field: 'note', code: 'WRONG_TYPE', rule: 'must be a string' },
    ]);
  });
});

describe('parseBody', () => {
  it('returns the body in the form of the schema', () => {
    expect(parseBody(body, { name: 'Ada', password: 'p', more: 1 })).toEqual({
      name: 'Ada',
      password: 'p',
    });
  });

  it('names the field of the first fault in its message, and lists all faults', () => {
    expect(errorOf(() => parseBody(body, { name: 'long', password: 7 }))).toMatchObject({
      code: 'FIELD_INVALID',
      message: 'name must be at most 3 characters',
      faults: [{ field: 'name' }, { field: 'password' }],
    });
  });

  it('names the field in its message if only other fields have an error code of their own', () => {
    const whenInvalid = { password: 'CREDENTIALS_REQUIRED' } as const;

    expect(errorOf(() => parseBody(body, { name: 'long' }, { whenInvalid }))).toMatchObject({
      code: 'FIELD_INVALID',
      message: 'name must be at most 3 characters',
    });
  });

  it('names no field in its message if the body has an error code of its own', () => {
    const whenInvalid = 'CREDENTIALS_REQUIRED';
    const { message } = new DomainError(whenInvalid);

    expect(errorOf(() => parseBody(body, { name: 'long' }, { whenInvalid }))).toMatchObject({
      code: whenInvalid,
      message,
    });
  });

  it('reports a missing field like a broken rule, unless the body has an error code for missing fields', () => {
    expect(errorOf(() => parseBody(body, { name: 7 }))).toMatchObject({
      code: 'FIELD_INVALID',
      faults: [{ field: 'name', code: 'WRONG_TYPE' }, required('password')],
    });
  });

  it('reports a missing field before other faults, by the error code of the body', () => {
    const error = errorOf(() =>
      parseBody(body, { name: 'long' }, { whenMissing: 'FIELDS_REQUIRED' }),
    );

    expect(error).toMatchObject({
      code: 'FIELDS_REQUIRED',
      message: 'All fields are required',
      faults: [{ field: 'name' }, required('password')],
    });
  });
});

import { describe, expect, it } from 'vitest';
import {
  DomainError,
  errorMeanings,
  faultName,
  invalidField,
  invalidParameter,
  missingField,
  namedError,
} from '../../../lib/ground/errors.ts';

describe('The meaning of an error', () => {
  it.each(Object.entries(errorMeanings))('of code %s is a sentence: %s', (_, meaning) => {
    expect(meaning).toMatch(/^[A-Z`].*\.$/);
  });
});

describe('DomainError', () => {
  it('is identified by its code, and has the message that the table has for the code', () => {
    const error = new DomainError('USER_NOT_FOUND');

    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({
      name: 'DomainError',
      code: 'USER_NOT_FOUND',
      message: 'User not found',
      faults: [],
      mayHaveHappened: false,
    });
    expect(error.retryAfter).toBeUndefined();
  });

  it('has its code as the message if the table has no message for it', () => {
    expect(new DomainError('STORAGE_FAULT').message).toBe('STORAGE_FAULT');
  });

  it('keeps its cause and the seconds to wait', () => {
    const cause = new Error('why');

    expect(new DomainError('STORAGE_FAULT', { cause }).cause).toBe(cause);
    expect(new DomainError('TOO_MANY_ATTEMPTS', { retryAfter: 30 }).retryAfter).toBe(30);
  });

  it('names the field or the parameter, and the rule that was broken', () => {
    expect(invalidField('name', 'must be a string')).toMatchObject({
      code: 'FIELD_INVALID',
      message: 'name must be a string',
    });
    expect(invalidParameter('limit', 'must be a number')).toMatchObject({
      code: 'PARAMETER_INVALID',
      message: 'limit must be a number',
    });
    expect(missingField('CODE_REQUIRED', 'code')).toMatchObject({
      code: 'CODE_REQUIRED',
      faults: [{ field: 'code', code: 'REQUIRED', rule: 'is required' }],
    });
  });
});

describe('faultName', () => {
  const named = (name: string, more: object = {}) =>
    Object.assign(new Error('user ada@example.org, password hunter2'), { name, ...more });

  // biome-ignore format: a table
  it.each([
    ['an error’s class', new TypeError('hunter2'), 'TypeError'],
    ['a service’s error', named('ThrottlingException'), 'ThrottlingException'],
    ['a system error’s code', named('Error', { code: 'ECONNREFUSED' }), 'ECONNREFUSED'],
    ['the cause of a domain error', new DomainError('STORAGE_FAULT', { cause: named('TimeoutError') }), 'TimeoutError'],
    ['the deepest cause', named('AbortError', { cause: named('Error', { cause: named('E', { code: 'EPIPE' }) }) }), 'EPIPE'],
    ['a cause that we name ourselves', namedError('Contention'), 'Contention'],
    ['a bundle of errors', new AggregateError([named('x')], 'hunter2'), 'AggregateError'],
  ])('is the name of %s', (_, error, name) => {
    expect(faultName(error)).toBe(name);
  });

  it.each([
    ['a domain error without a cause', new DomainError('STORAGE_FAULT')],
    ['a thrown text', 'hunter2'],
    ['a thrown object', { name: 'hunter2', message: 'hunter2' }],
    ['nothing', undefined],
    ['null', null],
  ])('is UnknownError for %s', (_, error) => {
    expect(faultName(error)).toBe('UnknownError');
  });

  it.each([
    ['text in place of a name', named('user ada@example.org not found')],
    ['text in place of a code', named('Oops', { code: 'password hunter2' })],
    ['a long name', named('x'.repeat(65))],
    ['several lines', named('a\nb')],
    ['a name that is not a string', named('Oops', { code: { toString: () => 'hunter2' } })],
  ])('never contains %s', (_, error) => {
    expect(faultName(error)).toMatch(/^(Oops|UnknownError)$/);
  });

  it('is found in a chain of at most eight causes', () => {
    const chain = Array.from({ length: 10 }, (_, i) => named(`Depth${i + 1}`));
    for (const [i, error] of chain.entries()) error.cause = chain[i + 1];

    expect(faultName(chain[0])).toBe('Depth8');
  });

  it('ends at an error that causes itself', () => {
    const error = named('Loop');
    error.cause = error;

    expect(faultName(error)).toBe('Loop');
  });
});

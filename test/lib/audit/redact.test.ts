import { describe, expect, it } from 'vitest';
import { redact } from '../../../lib/audit/entry.ts';

describe('redact', () => {
  it.each(['password', 'token', 'secret', 'creditCard', 'apiKey'])(
    'hides the value of %s',
    (key) => {
      expect(redact({ [key]: 'value', other: 'kept' })).toEqual({
        [key]: '[REDACTED]',
        other: 'kept',
      });
    },
  );

  it.each([
    ['a number', 4111],
    ['zero', 0],
    ['false', false],
    ['an object', { plain: 'value' }],
    ['an array', ['value']],
    ['an empty object', {}],
    ['white space', ' '],
  ])('hides a sensitive value that is %s', (_, value) => {
    expect(redact({ secret: value })).toEqual({ secret: '[REDACTED]' });
  });

  it.each([undefined, null, ''])('leaves a sensitive key alone whose value is %j', (value) => {
    expect(redact({ token: value })).toEqual({ token: value });
  });

  it('hides all sensitive keys of an object at once', () => {
    expect(
      redact({ password: 'a', token: 'b', secret: 'c', creditCard: 'd', apiKey: 'e' }),
    ).toEqual({
      password: '[REDACTED]',
      token: '[REDACTED]',
      secret: '[REDACTED]',
      creditCard: '[REDACTED]',
      apiKey: '[REDACTED]',
    });
  });

  it('reads keys to the letter, and those at the top only', () => {
    const details = { Password: 'a', api_key: 'b', nested: { password: 'c' }, passwords: ['d'] };

    expect(redact(details)).toEqual(details);
  });

  it('leaves what it was given as it was', () => {
    const details = { password: 'value' };

    redact(details);

    expect(details).toEqual({ password: 'value' });
  });

  it('takes __proto__ for a key like any other', () => {
    const redacted = redact(JSON.parse('{"__proto__":{"password":"value"}}'));

    expect(Object.keys(redacted as object)).toEqual(['__proto__']);
    expect(({} as { password?: string }).password).toBeUndefined();
  });

  it.each([undefined, null, '', 'password', 0, 7, true, [{ password: 'value' }]])(
    'returns %j, which is no object, unchanged',
    (details) => {
      expect(redact(details)).toBe(details);
    },
  );
});

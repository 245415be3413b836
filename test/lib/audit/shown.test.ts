import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import { shown } from '../../../lib/audit/store.ts';

const bytes = Uint8Array.of(0, 255, 16);

describe('shown', () => {
  it.each<[AttributeValue | undefined, unknown]>([
    [undefined, null],
    [{ NULL: true }, null],
    [{ S: '' }, ''],
    [{ S: '\ud83d\ude00 "x"' }, '\ud83d\ude00 "x"'],
    [{ N: '17' }, 17],
    [{ N: '-17' }, -17],
    [{ N: '-1.5' }, -1.5],
    [{ N: '9007199254740991' }, 9007199254740991],
    [{ N: '9007199254740992' }, '9007199254740992'],
    [{ N: '12345678901234567890' }, '12345678901234567890'],
    [{ N: '-9007199254740993' }, '-9007199254740993'],
    [{ N: '0.1234567890123456789' }, '0.1234567890123456789'],
    [{ N: '1E+100' }, '1E+100'],
    [{ BOOL: false }, 'false'],
    [{ B: bytes }, 'AP8Q'],
    [{ B: new Uint8Array() }, ''],
    [{ SS: ['a', '"'] }, '["a","\\""]'],
    [{ NS: ['1', '12345678901234567890'] }, '[1,"12345678901234567890"]'],
    [{ BS: [bytes] }, '["AP8Q"]'],
    [{ L: [{ S: 'a' }, { NULL: true }, { BOOL: true }, { B: bytes }] }, '["a",null,true,"AP8Q"]'],
    [{ M: { a: { M: { b: { N: '1' } } }, c: { L: [] } } }, '{"a":{"b":1},"c":[]}'],
  ])('shows %j as %j', (value, expected) => {
    expect(shown(value)).toBe(expected);
  });
});

import { describe, expect, it } from 'vitest';
import { attributeList, faultInAttributes } from '../../../lib/ground/attribute.ts';

const allows = (list: unknown) => attributeList.isAllowed(JSON.stringify(list));
const text = { name: 'a', type: 'text' };
const many = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ ...text, name: `a${i}` }));
const claim = { token: true };

describe('A list of attributes', () => {
  it.each<[string, unknown]>([
    [
      'one of each type',
      [text, ...['number', 'boolean', 'date'].map((type) => ({ name: type, type }))],
    ],
    ['the longest name', [{ ...text, name: `a${'_'.repeat(31)}` }]],
    [
      'the shortest and the longest text',
      [
        { ...text, maxLength: 1 },
        { ...text, name: 'b', maxLength: 255 },
      ],
    ],
    [
      'a choice with 20 values of 50 characters',
      [
        {
          name: 'a',
          type: 'choice',
          choices: Array.from({ length: 20 }, (_, i) =>
            String.fromCodePoint(0x1f600 + i).repeat(50),
          ),
        },
      ],
    ],
    ['20 attributes', many(20)],
    [
      'each writer',
      [
        { ...text, writer: 'user' },
        { ...text, name: 'b', writer: 'admin' },
      ],
    ],
    // 12 + 10 bytes for the claim and its punctuation, and 490 bytes for its value.
    ['claims of 512 bytes', [{ ...text, ...claim, name: 'a'.repeat(13), maxLength: 122 }]],
  ])('is accepted with %s', (_, list) => {
    expect(allows(list)).toBe(true);
  });

  it.each<[string, unknown]>([
    ['is empty', []],
    ['has 21 attributes', many(21)],
    ['is not an array', { ...text }],
    ['contains null', [null]],
    ['has the same name twice', [text, { ...text, type: 'number' }]],
    ['has no name', [{ type: 'text' }]],
    ...[
      'A',
      '1a',
      '',
      'a-b',
      `a${'_'.repeat(32)}`,
      'email',
      'role',
      'created_at',
      'identities',
      'sub',
      'exp',
      'password',
      'token',
      'secret',
      'credit_card',
      'api_key',
      'constructor',
      '__proto__',
    ].map((name) => [`has the name ${name}`, [{ ...text, name }]] as [string, unknown]),
    ['has an unknown type', [{ name: 'a', type: 'list' }]],
    ['has no type', [{ name: 'a' }]],
    ['has a text with maxLength 0', [{ ...text, maxLength: 0 }]],
    ['has a text with maxLength 256', [{ ...text, maxLength: 256 }]],
    ['has a number with maxLength', [{ name: 'a', type: 'number', maxLength: 5 }]],
    ['has a text with choices', [{ ...text, choices: ['a'] }]],
    ['has a choice without a list of choices', [{ name: 'a', type: 'choice' }]],
    ['has a choice with an empty list of choices', [{ name: 'a', type: 'choice', choices: [] }]],
    [
      'has 21 choices',
      [{ name: 'a', type: 'choice', choices: Array.from({ length: 21 }, (_, i) => `${i}`) }],
    ],
    ['has one choice twice', [{ name: 'a', type: 'choice', choices: ['x', 'x'] }]],
    ['has an empty choice', [{ name: 'a', type: 'choice', choices: [''] }]],
    ['has a choice of 51 characters', [{ name: 'a', type: 'choice', choices: ['x'.repeat(51)] }]],
    ['has an unknown writer', [{ ...text, writer: 'auditor' }]],
    ['has a claim that users write', [{ ...text, ...claim, writer: 'user', maxLength: 5 }]],
    ['has claims of 513 bytes', [{ ...text, ...claim, name: 'a'.repeat(14), maxLength: 122 }]],
    ['has an unknown member', [{ ...text, default: 'x' }]],
  ])('is refused if it %s', (_, list) => {
    expect(allows(list)).toBe(false);
  });

  const names = 'name must be 1 to 32 characters a-z, 0-9 and _, of which the first is a letter';
  it.each<[string, unknown]>([
    ['it must be a list of 1 to 20 objects', []],
    ['it must be a list of 1 to 20 objects', { a: text }],
    [`attribute 1 (undefined): ${names}`, ['plan']],
    [`attribute 2 (Plan): ${names}`, [text, { ...text, name: 'Plan' }]],
    ['attribute 1 (email): name is reserved', [{ ...text, name: 'email' }]],
    ['attribute 1 (constructor): name is reserved', [{ ...text, name: 'constructor' }]],
    [
      'attribute 1 (a): type must be one of text, number, boolean, choice, date',
      [{ name: 'a', type: 'string' }],
    ],
    [
      'attribute 1 (a): maxLength must be a whole number from 1 to 255, and is only for the type text',
      [{ ...text, maxLength: '5' }],
    ],
    [
      'attribute 1 (a): choices must be 1 to 20 different texts of 1 to 50 characters, and are only for the type choice',
      [{ name: 'a', type: 'choice', choices: 'x' }],
    ],
    ['attribute 1 (a): writer must be one of user, admin', [{ ...text, writer: 'users' }]],
    ['attribute 1 (a): token must be true or false', [{ ...text, token: 'true' }]],
    [
      'attribute 1 (a): token must be false where users write the attribute',
      [{ ...text, ...claim, writer: 'user' }],
    ],
    ['attribute 1 (a): maxlength is unknown', [{ ...text, maxlength: 5 }]],
    ['attribute 2 (a): an attribute above has this name', [text, text]],
    [
      'tokens would have claims of up to 824 bytes, of which 512 are allowed',
      [
        { ...text, ...claim },
        { ...text, ...claim, name: 'b' },
      ],
    ],
  ])('is refused with the message: %s', (fault, list) => {
    expect(faultInAttributes(list)).toBe(fault);
  });
});

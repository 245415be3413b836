import * as v from 'valibot';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { DomainError } from '../../../../lib/ground/errors.ts';
import { problemOfField } from '../../../../lib/ground/errors.ts';
import { config } from '../../../../lib/ground/settings.ts';
import { parseBody } from '../../../../lib/ground/validation.ts';
import {
  attributeClaims,
  attributeDetails,
  attributesOf,
  attributesSet,
  strangersAttributesRemoved,
} from '../../../../lib/options/attributes/attributes.ts';
import { attributesField } from '../../../../lib/options/attributes/field.ts';
import type { Role } from '../../../../lib/users/user.ts';
import { storedUser } from '../../../support/stored-user.ts';

const declared = [
  { name: 'nick', type: 'text', writer: 'user', maxLength: 5 },
  { name: 'size', type: 'number', writer: 'user' },
  { name: 'terms', type: 'boolean', token: true },
  { name: 'plan', type: 'choice', choices: ['free', 'pro'], token: true },
  { name: 'born', type: 'date' },
];
const declare = (list: readonly object[]) => vi.stubEnv('USER_ATTRIBUTES', JSON.stringify(list));
beforeEach(() => declare(declared));

const parse = (attributes: unknown, of: Role = 'admin') =>
  parseBody(v.object(attributesField(config, of, attributes)), { attributes }).attributes;
const faultsOf = (attributes: unknown, of: Role = 'admin') => {
  try {
    return parse(attributes, of);
  } catch (error) {
    return (error as DomainError).faults.map(problemOfField);
  }
};
const most = Number.MAX_SAFE_INTEGER;

describe('A value', () => {
  it.each([
    ['nick', '  x y ', 'x y'],
    ['nick', '😀😀😀😀😀', '😀😀😀😀😀'],
    ['size', -most, -most],
    ['size', 0.1, 0.1],
    ['terms', false, false],
    ['plan', 'pro', 'pro'],
    ['born', '2024-02-29', '2024-02-29'],
    ['born', '0001-01-01', '0001-01-01'],
    ['born', '9999-12-31', '9999-12-31'],
    ['nick', null, null],
  ])('of %s may be %j', (name, given, value) => {
    expect(parse({ [name]: given })).toEqual({ [name]: value });
  });

  const numberRule = `must be from -${most} to ${most}`;
  it.each([
    ['nick', 7, 'WRONG_TYPE', 'must be a string'],
    ['nick', ' ', 'EMPTY', 'must not be empty'],
    ['nick', 'abcdef', 'TOO_LONG', 'must be at most 5 characters'],
    ['nick', 'a\u0007', 'INVALID_FORMAT', 'must not have control characters'],
    ['nick', 'a\ud800', 'NOT_WELL_FORMED', 'must be well-formed Unicode'],
    ['size', '7', 'WRONG_TYPE', 'must be a number'],
    ['size', 2 ** 53, 'INVALID_FORMAT', numberRule],
    ['size', Number.POSITIVE_INFINITY, 'INVALID_FORMAT', numberRule],
    ['terms', 'true', 'WRONG_TYPE', 'must be true or false'],
    ['plan', 'gold', 'UNKNOWN_VALUE', 'must be one of free, pro'],
    ['plan', ['pro'], 'UNKNOWN_VALUE', 'must be one of free, pro'],
    ['born', '2023-02-29', 'INVALID_FORMAT', 'must be a date such as 2026-11-20'],
    ['born', '2023-2-9', 'INVALID_FORMAT', 'must be a date such as 2026-11-20'],
    ['born', '0000-01-01', 'INVALID_FORMAT', 'must be a date such as 2026-11-20'],
    ['other', 'x', 'UNKNOWN_VALUE', 'is not declared'],
    ['prototype', 'x', 'UNKNOWN_VALUE', 'is not declared'],
    ['constructor', 'x', 'UNKNOWN_VALUE', 'is not declared'],
    ['toString', 'x', 'UNKNOWN_VALUE', 'is not declared'],
  ])('of %s must not be %j', (name, given, code, rule) => {
    const fault = { pointer: `#/attributes/${name}`, code, detail: `attributes.${name} ${rule}` };
    for (const of of ['admin', 'user'] as const) {
      expect(faultsOf({ [name]: given }, of)).toEqual([fault]);
    }
  });

  it('is named by a pointer in which ~ and / are escaped (RFC 6901, section 3)', () => {
    expect(faultsOf({ 'a/b~c~1': 'x' })).toEqual([
      {
        pointer: '#/attributes/a~1b~0c~01',
        code: 'UNKNOWN_VALUE',
        detail: 'attributes.a/b~c~1 is not declared',
      },
    ]);
  });

  it('that is not declared can be removed only by admins', () => {
    expect(faultsOf({ other: null }, 'admin')).toEqual({ other: null });
    expect(faultsOf({ other: null }, 'user')).toMatchObject([{ pointer: '#/attributes/other' }]);
  });

  it.each([null, 'plan', 7, true, [], [{}]])('must be in an object, and not in %j', (given) => {
    const detail = 'attributes must be an object';
    expect(faultsOf(given)).toEqual([{ pointer: '#/attributes', code: 'WRONG_TYPE', detail }]);
  });
});

describe('The attributes of a user', () => {
  const stored = (values: object) => ({ attributes: JSON.stringify(values) });

  it('are set if they are given, removed if they are null, and otherwise kept', () => {
    const user = stored({ nick: 'a', size: 1, gone: 'kept' });

    const { fields } = attributesSet(user, { nick: null, plan: 'pro' });

    expect(JSON.parse(String(fields?.attributes))).toEqual({ size: 1, gone: 'kept', plan: 'pro' });
    expect(attributesSet(stored({ nick: 'a' }), { nick: null })).toEqual({
      fields: { attributes: undefined },
    });
    expect(attributesSet(user, undefined)).toEqual({});
  });

  it('take at most 4,096 bytes as they are stored', () => {
    const rest = (end: string) =>
      attributesSet(stored({ gone: 'é'.repeat(2037) + end }), { size: 1 });
    // The other characters, {"gone":"…","size":1}, take 20 bytes.
    expect(Buffer.byteLength(String(rest('xx').fields?.attributes))).toBe(4096);
    expect(() => rest('xxx')).toThrow('attributes must take at most 4,096 bytes in all');
  });

  it('are shown and become claims only while their declaration fits them', () => {
    const user = stored({ nick: 'a', terms: true, plan: 'gold', born: '2026-13-45', gone: 'x' });

    expect(attributesOf(user)).toEqual({ nick: 'a', terms: true });
    expect(attributeClaims(user)).toEqual({ 'attr:terms': true });

    declare([{ name: 'plan', type: 'choice', choices: ['gold'], token: true }]);
    expect(attributesOf(user)).toEqual({ plan: 'gold' });
    expect(attributeClaims(user)).toEqual({ 'attr:plan': 'gold' });

    declare(declared);
    expect(attributesOf(stored({ size: 1e300, terms: 'true', born: 20000101 }))).toEqual({});
    for (const nick of ['a\u0007', 'a\ud800', ' a', '', '\u200b', 'abcdef', 7, null, ['a']]) {
      expect(attributesOf(stored({ nick })), String(nick)).toEqual({});
    }
    vi.stubEnv('USER_ATTRIBUTES', '');
    expect([attributesOf(user), attributeClaims(user)]).toEqual([{}, {}]);
    expect(attributesOf({})).toEqual({});
  });

  it('are named in entries, with values of choices, or with AUDIT_DETAIL=full also of booleans and dates', () => {
    const user = stored({ nick: 'a', terms: true, plan: 'free' });
    const given = { nick: 'b', size: 7, terms: null, plan: 'pro', born: '2000-01-01', gone: null };
    const plan = { from: 'free', to: 'pro' };

    expect(attributeDetails(user, given)).toEqual({
      // No attribute `gone` is declared or stored.
      fields: ['nick', 'size', 'terms', 'plan', 'born'].map((name) => `attributes.${name}`),
      values: { attributes: { plan } },
    });
    expect(attributeDetails(user, { plan: 'free' })).toEqual({
      fields: ['attributes.plan'],
      values: {},
    });
    vi.stubEnv('AUDIT_DETAIL', 'full');
    expect(attributeDetails(user, given).values).toEqual({
      attributes: { terms: { from: true, to: null }, plan, born: { from: null, to: '2000-01-01' } },
    });
  });
});

describe('The link that proves the address of a user', () => {
  beforeEach(() => void vi.stubEnv('EMAIL_VERIFICATION', 'on'));

  it.each([
    [{ nick: 'Ada', terms: true }, { fields: { attributes: '{"terms":true}' } }],
    [{ terms: true }, {}],
  ])('changes the attributes %j by %j', (given, change) => {
    const { attributes } = attributesSet({}, given).fields ?? {};

    expect(strangersAttributesRemoved(storedUser({ id: 1, attributes }))).toEqual(change);
  });
});

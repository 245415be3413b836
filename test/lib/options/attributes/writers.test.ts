/** Which caller may set, change and remove which attribute: every type, by every writer and every caller. */
import * as v from 'valibot';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { type Asking, requireAllowed } from '../../../../lib/accounts/policy.ts';
import type { DomainError } from '../../../../lib/ground/errors.ts';
import { config } from '../../../../lib/ground/settings.ts';
import { parseBody } from '../../../../lib/ground/validation.ts';
import { attributesSet } from '../../../../lib/options/attributes/attributes.ts';
import { attributesField } from '../../../../lib/options/attributes/field.ts';

const types = {
  text: ['a', 'b'],
  number: [0, 2.5],
  boolean: [false, true],
  choice: ['free', 'pro'],
  date: ['2024-02-29', '2026-11-20'],
} as const;
const named = (type: string, writer: string) => ({
  name: `${type}_of_${writer}`,
  type,
  writer,
  ...(type === 'choice' ? { choices: types.choice } : {}),
});
const declared = Object.keys(types).flatMap((type) => [named(type, 'user'), named(type, 'admin')]);
beforeEach(() => {
  vi.stubEnv('SESSION_DAYS', '90');
  vi.stubEnv('USER_ATTRIBUTES', JSON.stringify(declared));
});

const user = { role: 'user', isAuditor: false, isSelf: false, mayBeMaker: false } as const;
const callers = {
  'another user': user,
  'the user': { ...user, isSelf: true },
  'the maker': { ...user, mayBeMaker: true },
  'an auditor': { ...user, isAuditor: true },
  'the auditor': { ...user, isAuditor: true, isSelf: true },
  'an admin': { ...user, role: 'admin' },
  'the admin': { ...user, role: 'admin', isSelf: true },
} as const satisfies Readonly<Record<string, Asking>>;
type Caller = keyof typeof callers;

/** The value of a user's attribute after a PUT with a value for it, or the code of the refusal. */
const outcomeOf = (by: Caller, name: string, given: unknown, before?: unknown): unknown => {
  const attributes = { [name]: given };
  const asking = callers[by];
  const stored = { attributes: JSON.stringify(before === undefined ? {} : { [name]: before }) };
  try {
    requireAllowed('changeUser', asking, { attributes });
    const body = parseBody(v.object(attributesField(config, asking.role, attributes)), {
      attributes,
    });
    const { fields } = attributesSet(stored, body.attributes);
    return JSON.parse(fields?.attributes ?? '{}')[name];
  } catch (error) {
    return (error as DomainError).code;
  }
};

// biome-ignore format: a table
const rows: readonly (readonly [Caller, { user: 'yes' | 'FORBIDDEN'; admin: 'yes' | 'FORBIDDEN' }, undeclared: readonly [set: string, removed: string | undefined]])[] = [
  ['another user',      { user: 'FORBIDDEN', admin: 'FORBIDDEN' }, ['FORBIDDEN', 'FORBIDDEN']],
  ['the user',          { user: 'yes',       admin: 'FORBIDDEN' }, ['FIELD_INVALID', 'FIELD_INVALID']],
  ['the maker', { user: 'FORBIDDEN', admin: 'FORBIDDEN' }, ['FIELD_INVALID', 'FIELD_INVALID']],
  ['an auditor',        { user: 'FORBIDDEN', admin: 'FORBIDDEN' }, ['FORBIDDEN', 'FORBIDDEN']],
  ['the auditor',       { user: 'yes',       admin: 'FORBIDDEN' }, ['FIELD_INVALID', 'FIELD_INVALID']],
  ['an admin',          { user: 'yes',       admin: 'yes'       }, ['FIELD_INVALID', undefined]],
  ['the admin',         { user: 'yes',       admin: 'yes'       }, ['FIELD_INVALID', undefined]],
];

describe.each(rows)(
  'When the caller is %s,',
  (caller, byWriter, [undeclaredSet, undeclaredRemoved]) => {
    const cases = Object.entries(types).flatMap(([type, values]) =>
      (['user', 'admin'] as const).map((writer) => [type, writer, values] as const),
    );

    it.each(cases)(
      'an attribute of type %s with the writer %s is set, changed and removed, or refused',
      (...row) => {
        const [type, writer, [one, other]] = row;
        const { name } = named(type, writer);
        const code = byWriter[writer];
        const or = (value: unknown) => (code === 'yes' ? value : code);

        expect(outcomeOf(caller, name, one)).toBe(or(one));
        expect(outcomeOf(caller, name, one, one)).toBe(or(one));
        expect(outcomeOf(caller, name, other, one)).toBe(or(other));
        expect(outcomeOf(caller, name, null, one)).toBe(or(undefined));
        expect(outcomeOf(caller, name, null)).toBe(or(undefined));
        // A wrong value is reported only to callers who may write a right value.
        expect(outcomeOf(caller, name, [], one)).toBe(or('FIELD_INVALID'));
      },
    );

    it('an attribute that is not declared is refused, unless an admin removes it', () => {
      for (const value of ['x', 7, true]) {
        expect(outcomeOf(caller, 'gone', value, 'x')).toBe(undeclaredSet);
      }
      expect(outcomeOf(caller, 'gone', null, 'x')).toBe(undeclaredRemoved);
      expect(outcomeOf(caller, 'gone', null)).toBe(undeclaredRemoved);
    });
  },
);

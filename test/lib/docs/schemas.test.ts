import { describe, expect, it } from 'vitest';
import type { OpenApiDocument } from '../../../lib/contract/document.ts';
import type { Schema } from '../../../lib/docs/document.ts';
import { textOf } from '../../../lib/docs/html.ts';
import { fieldTable, parameterTable, schemasSection, typeOf } from '../../../lib/docs/schemas.ts';
import { lines } from './small-document.ts';

const words = (schema: Schema) => textOf(typeOf(schema));

/** The cells of a table, row by row. */
const cells = (table: ReturnType<typeof fieldTable>) =>
  [...textOf(table ?? expect.unreachable()).matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row = '']) =>
    [...row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs)].map(([, cell]) => cell),
  );

describe('The type of a schema in words', () => {
  it.each<[Schema, string]>([
    [{ type: 'string' }, 'string'],
    [{ type: 'string', format: 'date-time' }, 'string, date-time'],
    [{ type: 'string', minLength: 1, maxLength: 1 }, 'string, exactly 1 character'],
    [{ type: 'string', minLength: 3, maxLength: 3 }, 'string, exactly 3 characters'],
    [{ type: 'string', minLength: 1, maxLength: 72 }, 'string, 1 to 72 characters'],
    [{ type: 'string', minLength: 1 }, 'string, at least 1 character'],
    [{ type: 'string', maxLength: 72 }, 'string, at most 72 characters'],
    [{ type: 'string', pattern: '^<a' }, 'string, matches <code>^&#60;a</code>'],
    [
      { type: 'integer', minimum: 1, maximum: 100, default: 100 },
      'integer, 1 to 100, 100 by default',
    ],
    [{ type: 'integer', minimum: 0 }, 'integer, at least 0'],
    [{ type: 'object', minProperties: 1 }, 'object, at least 1 field'],
    [{ type: 'array', minItems: 2 }, 'array, at least 2 items'],
    [{ type: 'array', items: { type: 'integer' } }, 'array of integer'],
    [{ enum: ['user', 'admin'] }, '<code>user</code>, <code>admin</code>'],
    [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, 'string or null'],
    [{ anyOf: [{ format: 'date' }, { format: 'date-time' }] }, 'date or date-time'],
    [{}, ''],
    [{ $ref: '#/components/schemas/User' }, '<a href="#schema-User">User</a>'],
  ])('of %o is %s', (schema, text) => {
    expect(words(schema)).toBe(text);
  });
});

describe('The table of a schema’s fields', () => {
  it('has a row for each, and for those of objects and arrays without a name in it', () => {
    const schema: Schema = {
      type: 'object',
      required: ['data'],
      properties: {
        data: {
          ...{ type: 'array', description: 'Newest first.' },
          items: { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] },
        },
        by: {
          type: 'object',
          properties: {
            name: { type: 'string' },
            seen: {
              type: 'array',
              items: { type: 'object', properties: { at: { type: 'string' } } },
            },
          },
        },
      },
    };

    expect(cells(fieldTable(schema))).toEqual([
      ['Field', 'Type and rules'],
      ['<code>data</code> <small>required</small>', 'array of object<p>Newest first.</p>'],
      ['<code>data[].id</code> <small>required</small>', 'integer'],
      ['<code>by</code>', 'object'],
      ['<code>by.name</code>', 'string'],
      ['<code>by.seen</code>', 'array of object'],
      ['<code>by.seen[].at</code>', 'string'],
    ]);
  });

  it('is none where there are no fields', () => {
    expect(fieldTable({ $ref: '#/components/schemas/User' })).toBeUndefined();
  });
});

it('The table of parameters says where each stands, and whether it must', () => {
  const table = parameterTable([
    { name: 'id', in: 'path', required: true, schema: { type: 'integer' } },
    { name: 'limit', in: 'query', schema: { type: 'integer' }, description: 'At most.' },
  ]);

  expect(cells(table)).toEqual([
    ['Parameter', 'Type and rules'],
    ['<code>id</code> <small>path, required</small>', 'integer'],
    ['<code>limit</code> <small>query</small>', 'integer<p>At most.</p>'],
  ]);
});

it('The section of schemas leaves the codes of errors to the section of errors, in problem details only', () => {
  const code = { type: 'string', description: 'Why.\n\n- `A`: one\n\nTwo.' };
  const title = { type: 'string' };
  const schemas = {
    Problem: { type: 'object', description: 'A problem.', properties: { title, code } },
    Other: { type: 'object', description: 'Of another kind.', properties: { code } },
  };
  const section = schemasSection({ components: { schemas } } as unknown as OpenApiDocument);

  expect(lines(section)).toEqual([
    '[Schemas](#schemas)',
    '[Problem](#schema-Problem)',
    ...['A problem.', 'object', 'Field | Type and rules', 'title', 'string'],
    ...['code', 'string', 'Why. See [Errors](#errors).'],
    '[Other](#schema-Other)',
    ...[
      'Of another kind.',
      'object',
      'Field | Type and rules',
      'code',
      'string',
      'Why.',
      'A: one',
      'Two.',
    ],
  ]);
});

import { describe, expect, it } from 'vitest';
import { errorsIn, type Response, resolve, responsesOf } from '../../../lib/docs/document.ts';
import { document, operation } from './small-document.ts';

describe('A reference', () => {
  it('is what it leads to, and anything else is itself', () => {
    const size = { type: 'integer' };

    expect(resolve(document, { $ref: '#/components/schemas/Box' })).toHaveProperty(
      'description',
      'A box.',
    );
    expect(resolve(document, size)).toBe(size);
  });

  it.each(['#/components/schemas/Bag', '#/components/bags/Box'])(
    'fails by its name when it leads nowhere: %s',
    ($ref) => {
      expect(() => resolve(document, { $ref })).toThrow(`${$ref} leads nowhere.`);
    },
  );
});

describe('The responses of an operation', () => {
  it('are errors from 400 on, and what the gateway says is of no operation', () => {
    const statuses = (kind: 'success' | 'error') =>
      responsesOf(operation('pack'), kind).map(([status]) => status);

    expect(statuses('success')).toEqual(['200', '304']);
    expect(statuses('error')).toEqual(['400', '429']);
  });

  it.each<Omit<Response, 'description'>>([
    {},
    { content: {} },
    { content: { 'text/html': { schema: {}, examples: { TORN: { value: { title: 'Torn' } } } } } },
    { content: { 'application/problem+json': { schema: {} } } },
  ])('have no errors without examples of problem details: %j', (response) => {
    expect(errorsIn(document, { description: '', ...response })).toEqual([]);
  });
});

import { describe, expect, it } from 'vitest';
import { outcome, refusal, serviceForThisFile } from '../support/acceptance.ts';
import { bodyEndpoints } from '../support/body-endpoints.ts';

const { endpoints, state, markedEmail } = await bodyEndpoints(await serviceForThisFile());

const headers = { 'content-type': 'application/json' };
const text = JSON.stringify({ name: 'n', email: markedEmail(), password: 'p' });
const withPrototype = text.replace('{', '{"__proto__":{"role":"admin"},');
const deep = `{"name":"n","password":"p","email":${'['.repeat(10_000)}${']'.repeat(10_000)}}`;

/** A value of each field that its rules refuse, and one that is as long as they allow. */
const fieldCases = {
  name: {
    refused: ['x'.repeat(101), 'name must be at most 100 characters'],
    longest: () => ` ${'😀'.repeat(100)}\n`,
  },
  email: {
    refused: ['x'.repeat(192), 'email must be at most 191 characters'],
    longest: () => `\t${markedEmail().padStart(191, 'ü')} `,
  },
  password: {
    refused: [7, 'password must be a string'],
    longest: () => '😀'.repeat(255),
  },
} as const;

/** The responses to an empty object. */
const toNoFields: Readonly<Record<string, readonly [status: number, body: unknown]>> = {
  'POST /api/auth/register': refusal(400, 'All fields are required'),
  'POST /api/login': refusal(400, 'Email and password are required'),
  'POST /api/users': refusal(400, 'All fields are required'),
  'PUT /api/users/{id}': refusal(400, 'No fields to update'),
  'POST /api/v1/users': refusal(400, 'Name and email required'),
  'PUT /api/v1/users/{id}': refusal(400, 'Name and email required'),
  'PATCH /api/v1/users/{id}': [200, expect.objectContaining({ name: 'Some One' })],
};

describe.each(endpoints)('$title', ({ title, send }) => {
  it.each([
    ['no body', {}],
    ['no body of type JSON', { headers }],
    ['an empty body', { headers, body: '' }],
    ['an empty body of another type', { headers: { 'content-type': 'text/plain' }, body: '' }],
  ])('answers %s like an empty object', async (_, request) => {
    expect(outcome(await send(request))).toEqual(toNoFields[title]);
    expect(outcome(await send({ json: {} }))).toEqual(toNoFields[title]);
  });

  it.each([
    ['a truncated object', text.slice(0, -1), 'Request body is not valid JSON'],
    ['an array', `[${text}]`, 'Request body must be a JSON object'],
    ['the key __proto__', withPrototype, 'Request body holds a forbidden key'],
    ['10,000 levels', deep, 'Request body is nested too deeply'],
  ])('answers 400 to a body that holds %s', async (_, body, message) => {
    const answer = await send({ headers, body });

    expect(outcome(answer)).toEqual(refusal(400, message));
  });

  it.each([
    ['another type', { headers: { 'content-type': 'text/plain' }, body: text }],
    ['no type', { body: new Uint8Array(Buffer.from(text)) }],
  ])('answers 400 to a body of %s', async (_, request) => {
    expect(outcome(await send(request))).toEqual(
      refusal(400, 'Content-Type must be application/json'),
    );
  });

  it('answers 400 to bytes that are not UTF-8', async () => {
    const { status, body } = await send({ headers, body: new Uint8Array([0xff, 0xfe]) });

    expect(status).toBe(400);
    expect(body).toEqual({ message: expect.stringMatching(/^Request body is not valid/) });
  });

  it.each([
    ['64 KiB and a byte', 64 * 1024 + 1],
    ['nine megabytes', 9_000_000],
  ])('answers 413 to a body of %s', async (_, length) => {
    const answer = await send({ headers, body: text.padEnd(length) });

    expect(outcome(answer)).toEqual(refusal(413, 'Request Entity Too Large'));
  });
});

/** Every field of every endpoint whose fields have these rules. */
const fields = endpoints
  .filter(({ title }) => title !== 'POST /api/login')
  .flatMap(({ fields, ...endpoint }) => fields.map((field) => ({ ...endpoint, field })));

describe.each(fields)('$title', ({ field, send, sound }) => {
  it(`answers 400 to a ${field} that breaks a rule`, async () => {
    const [value, message] = fieldCases[field].refused;

    const answer = await send({ json: { ...sound(), [field]: value } });

    expect(outcome(answer)).toEqual(refusal(400, message));
  });
});

describe('All of these requests together', () => {
  it('have changed nothing and recorded no audit entry', async () => {
    expect(await state()).toEqual({
      user: expect.objectContaining({ name: 'Some One', role: 'user' }),
      memoryUser: expect.objectContaining({ name: 'Some One' }),
      others: [],
      entries: [],
    });
  });
});

describe.each(endpoints)('$title', ({ send, sound, success }) => {
  it('takes a body of a type that is JSON with a suffix and parameters', async () => {
    const type = { 'content-type': 'application/vnd.api+json; charset=utf-8' };

    const { status } = await send({ headers: type, body: JSON.stringify(sound()) });

    expect(status).toBe(success);
  });

  it('ignores fields that it does not know', async () => {
    const more = { constructor: 'x', toString: 1, hasOwnProperty: null, $where: '1', x: [{}] };

    expect((await send({ json: { ...sound(), ...more } })).status).toBe(success);
  });

  it('inherits no field from the prototype of objects', async () => {
    const answer = await send({ json: { constructor: { name: 'n', email: 'a@b' } } });

    expect([200, 400]).toContain(answer.status);
    expect(answer.text).not.toMatch(/Object|function|native/);
  });
});

describe.each(fields.filter(({ title }) => !title.includes('v1')))(
  '$title',
  ({ field, send, sound, success }) => {
    it(`takes the longest ${field}, without the white space around it`, async () => {
      const value = fieldCases[field].longest();

      const { status, body } = await send({ json: { ...sound(), [field]: value } });

      expect(status).toBe(success);
      if (body[field]) expect(body[field]).toBe(value.trim());
    });
  },
);

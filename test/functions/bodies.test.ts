import { describe, expect, it } from 'vitest';
import { outcome, refusal, serviceForThisFile } from '../support/acceptance.ts';
import { bodyEndpoints } from '../support/body-endpoints.ts';

const { endpoints, state, markedEmail } = await bodyEndpoints(await serviceForThisFile());

const json = { 'content-type': 'application/json' };
const text = JSON.stringify({ name: 'n', email: markedEmail(), password: 'p' });
const bytes = (value: string, encoding: BufferEncoding = 'utf8') =>
  new Uint8Array(Buffer.from(value, encoding));
/** The text of a sound body with one more field in front. */
const withField = (field: string) => text.replace('{', `{${field},`);

const deepArray = '['.repeat(10_000) + ']'.repeat(10_000);
const deepObject = `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`;

const notJson = [
  ['a truncated object', text.slice(0, -1)],
  ['an object cut in a string', text.slice(0, -4)],
  ['two objects', text + text],
  ['an object and a word', `${text} x`],
  ['a trailing comma', text.replace('}', ',}')],
  ['a missing comma', text.replace(',', ' ')],
  ['names without quotes', text.replaceAll(/"(\w+)":/g, '$1:')],
  ['single quotes', text.replaceAll('"', "'")],
  ['a comment', `${text} // n`],
  ['NaN', withField('"x":NaN')],
  ['a hexadecimal number', withField('"x":0x10')],
  ['a bad escape', withField(String.raw`"x":"\x41"`)],
  ['a raw newline in a string', withField('"x":"a\nb"')],
  ['a form', 'name=n&email=a%40b&password=p'],
  ['XML', '<name>n</name>'],
  ['a word', 'undefined'],
  ['white space', ' \n '],
  ['60 KB of white space', ' '.repeat(60_000)],
  ['60 KB of opening braces', '{"a":'.repeat(12_000)],
  ['10,000 levels that are never closed', '['.repeat(10_000)],
] as const;

const notObjects = [
  ['an array', `[${text}]`],
  ['an empty array', '[]'],
  ['a string', JSON.stringify(text)],
  ['a number', '1'],
  ['true', 'true'],
  ['null', 'null'],
] as const;

const forbiddenKeys = [
  ['__proto__', withField('"__proto__":{"role":"admin"}')],
  ['__proto__ of a scalar', withField('"__proto__":1')],
  ['__proto__ in escapes', withField(String.raw`"\u005f_proto__":{"role":"admin"}`)],
  ['__proto__ further down', withField('"x":{"y":[{"__proto__":{"role":"admin"}}]}')],
  ['constructor.prototype', withField('"constructor":{"prototype":{"role":"admin"}}')],
] as const;

const mediaTypes = [
  ...['text/plain', 'text/json', 'text/html', 'application/x-www-form-urlencoded', 'json', '*/*'],
  ...['multipart/form-data; boundary=x', 'application/xml', 'application/octet-stream'],
  ...['application/jsonp', 'application/json5', 'application/x-ndjson', 'application/'],
];

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
    ['no body of type JSON', { headers: json }],
    ['an empty body', { headers: json, body: '' }],
    ['an empty body of another type', { headers: { 'content-type': 'text/plain' }, body: '' }],
  ])('answers %s like an empty object', async (_, request) => {
    expect(outcome(await send(request))).toEqual(toNoFields[title]);
    expect(outcome(await send({ json: {} }))).toEqual(toNoFields[title]);
  });

  it.each(mediaTypes)('answers 400 to a body of type %s', async (type) => {
    const answer = await send({ headers: { 'content-type': type }, body: text });

    expect(outcome(answer)).toEqual(refusal(400, 'Content-Type must be application/json'));
  });

  it('answers 400 to a body of no type', async () => {
    const answer = await send({ body: bytes(text) });

    expect(outcome(answer)).toEqual(refusal(400, 'Content-Type must be application/json'));
  });

  it.each(notJson)('answers 400 to %s', async (_, body) => {
    const answer = await send({ headers: json, body });

    expect(outcome(answer)).toEqual(refusal(400, 'Request body is not valid JSON'));
  });

  it.each(notObjects)('answers 400 to %s', async (_, body) => {
    const answer = await send({ headers: json, body });

    expect(outcome(answer)).toEqual(refusal(400, 'Request body must be a JSON object'));
  });

  it.each(forbiddenKeys)('answers 400 to the key %s', async (_, body) => {
    const answer = await send({ headers: json, body });

    expect(outcome(answer)).toEqual(refusal(400, 'Request body holds a forbidden key'));
  });

  it.each([
    ['bytes that are no UTF-8', new Uint8Array([0xff, 0xfe, ...bytes(text)])],
    ['an object in UTF-16', bytes(text, 'utf16le')],
    ['compressed data', new Uint8Array([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3])],
  ])('answers 400 to %s', async (_, body) => {
    const { status, body: answered } = await send({ headers: json, body });

    expect(status).toBe(400);
    expect(answered).toEqual({ message: expect.stringMatching(/^Request body is not valid/) });
  });

  it.each([
    ['64 KiB and a byte', `${text}${' '.repeat(64 * 1024 + 1 - text.length)}`],
    ['nine megabytes of numbers', withField(`"x":[${'1,'.repeat(4_700_000)}1]`)],
  ])('answers 413 to %s', async (_, body) => {
    const answer = await send({ headers: json, body });

    expect(outcome(answer)).toEqual(refusal(413, 'Request Entity Too Large'));
  });

  it.each([
    ['an array', deepArray],
    ['an array as a field', `{"name":"n","password":"p","email":${deepArray}}`],
    ['an object', deepObject],
    ['an object as a field', `{"name":"n","password":"p","email":${deepObject}}`],
  ])('answers 400 to %s of 10,000 levels', async (_, body) => {
    const answer = await send({ headers: json, body });

    expect(outcome(answer)).toEqual(refusal(400, 'Request body is nested too deeply'));
  });
});

describe('All of these together', () => {
  it('have changed nothing and left no audit entry', async () => {
    expect(await state()).toEqual({
      user: expect.objectContaining({ name: 'Some One', role: 'user' }),
      memoryUser: expect.objectContaining({ name: 'Some One' }),
      others: [],
      entries: [],
    });
  });
});

describe.each(endpoints)('$title', ({ send, sound, success }) => {
  it.each([
    'application/json; charset=utf-8',
    'application/json ; charset=utf-8',
    'APPLICATION/JSON',
    'application/vnd.api+json',
  ])('takes a body of type %s', async (type) => {
    const headers = { 'content-type': type };

    expect((await send({ headers, body: JSON.stringify(sound()) })).status).toBe(success);
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

import { describe, expect, it } from 'vitest';
import { fieldsOf } from '../../../lib/http/body.ts';
import { gatewayEvent } from '../../support/event.ts';
import { testEndpoint } from '../../support/operation.ts';

const handler = testEndpoint({ body: 'json' }, ({ body }) => ({
  statusCode: 200,
  body,
}));

const send = async (body: string, { type = 'application/json', isBase64Encoded = true } = {}) => {
  const event = gatewayEvent({ headers: { 'content-type': type }, body, isBase64Encoded });
  const answer = await handler(event, {});
  return [answer.statusCode, JSON.parse(answer.body ?? '')];
};
const base64 = (bytes: string | number[]) =>
  (typeof bytes === 'string' ? Buffer.from(bytes) : Buffer.from(bytes)).toString('base64');
const refused = (message: string) => [400, { message }];

describe('A body that the gateway hands on in base64', () => {
  it.each([
    ['JSON', base64('{"name":"ünï 😀"}')],
    ['JSON after a byte order mark', base64('\ufeff{"name":"ünï 😀"}')],
    ['JSON whose base64 has no padding', base64('{"name":"ünï 😀"}').replace(/=+$/, '')],
  ])('is read when it is %s', async (_, body) => {
    expect(await send(body)).toEqual([200, { name: 'ünï 😀' }]);
  });

  it.each([
    ['spaces', `${base64('{}')} `],
    ['a stray character', base64('{"a":1}').replace('e', '*')],
    ['the alphabet of URLs', 'eyJhIjoiPz8_In0-'],
    ['padding in the middle', `e30=${base64('{}')}`],
    ['JSON as it is', '{}'],
    ['a line break', `${base64('{"a":').slice(0, 4)}\n${base64('1}')}`],
  ])('is refused when it is not base64 but has %s', async (_, body) => {
    expect(await send(body)).toEqual(refused('Request body is not valid UTF-8'));
  });

  it.each([
    ['a byte that begins nothing', [0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xff, 0x22, 0x7d]],
    ['a character cut off', [0x22, 0xf0, 0x9f, 0x98, 0x22]],
    ['an overlong encoding', [0x22, 0xc0, 0xaf, 0x22]],
    ['a surrogate', [0x22, 0xed, 0xa0, 0x80, 0x22]],
  ])('is refused when its bytes have %s', async (_, bytes) => {
    expect(await send(base64(bytes))).toEqual(refused('Request body is not valid UTF-8'));
  });

  it('is refused because of its type before its bytes are read', async () => {
    const answer = await send(base64([0xff, 0xd8]), { type: 'image/jpeg' });

    expect(answer).toEqual(refused('Content-Type must be application/json'));
  });

  it('is refused when it is not the base64 of JSON', async () => {
    expect(await send('A')).toEqual(refused('Request body is not valid JSON'));
  });
});

describe('A body that the gateway hands on as text', () => {
  it('is read when it is JSON after a byte order mark', async () => {
    const body = '\ufeff{"name":"ünï 😀"}';

    expect(await send(body, { isBase64Encoded: false })).toEqual([200, { name: 'ünï 😀' }]);
  });
});

describe('A request without a body', () => {
  it.each([
    ['nothing', {}],
    ['no bytes as text', { body: '', isBase64Encoded: false }],
    ['no bytes in base64', { body: '', isBase64Encoded: true }],
    ['no bytes of another type', { body: '', headers: { 'content-type': 'image/jpeg' } }],
  ])('counts as an empty object when the gateway passes %s on', async (_, event) => {
    const { statusCode, body } = await handler(gatewayEvent(event), {});

    expect([statusCode, body]).toEqual([200, '{}']);
  });

  it('differs from a request whose body is only a byte order mark', async () => {
    const answers = [
      await send(base64('\ufeff')),
      await send('\ufeff', { isBase64Encoded: false }),
    ];

    expect(answers).toEqual(Array(2).fill(refused('Request body is not valid JSON')));
  });
});

describe('The object of a body', () => {
  it('inherits nothing', () => {
    const body = fieldsOf({ name: 'x' });

    expect(['toString', 'name'].filter((field) => field in body)).toEqual(['name']);
  });
});

describe('The size of a body', () => {
  const limit = 64 * 1024;
  const tooLarge = [413, { message: 'Request Entity Too Large' }];
  /** A JSON object of a number of bytes. */
  const objectOf = (bytes: number, character = 'x') => {
    const characters = (bytes - 8) / Buffer.byteLength(character);
    return `{"x":"${character.repeat(characters)}"}`;
  };

  it.each([
    ['as text', false, (body: string) => body],
    ['in base64', true, base64],
  ])('may be at most 64 KiB when the body is passed on %s', async (_, isBase64Encoded, encode) => {
    const [largest] = await send(encode(objectOf(limit)), { isBase64Encoded });
    const larger = await send(encode(objectOf(limit + 1)), { isBase64Encoded });

    expect(largest).toBe(200);
    expect(larger).toEqual(tooLarge);
  });

  it('is counted in bytes, not in characters', async () => {
    const [largest] = await send(objectOf(limit, '😀'), { isBase64Encoded: false });
    const larger = await send(objectOf(limit + 4, '😀'), { isBase64Encoded: false });

    expect(largest).toBe(200);
    expect(larger).toEqual(tooLarge);
  });

  it('is checked before the content of the body', async () => {
    const answers = [
      await send('{'.repeat(limit + 1), { isBase64Encoded: false }),
      await send('*'.repeat(2 * limit)),
    ];

    expect(answers).toEqual([tooLarge, tooLarge]);
  });
});

describe('A body that the gateway hands on as text', () => {
  it('is refused without a content type', async () => {
    const { headers, ...event } = gatewayEvent({ body: '{}' });

    const answer = await handler(event as typeof event & { headers: typeof headers }, {});

    expect([answer.statusCode, JSON.parse(answer.body ?? '')]).toEqual(
      refused('Content-Type must be application/json'),
    );
  });

  const sound = '{"name":"n","email":"a@b"}';
  const sendText = (body: string, type?: string) =>
    send(body, { isBase64Encoded: false, ...(type === undefined ? {} : { type }) });

  // biome-ignore format: a table
  it.each([
    'text/plain', 'text/json', 'application/x-www-form-urlencoded', 'json', '*/*', '',
    'multipart/form-data; boundary=x', 'application/xml', 'application/octet-stream',
    'application/jsonp', 'application/json5', 'application/x-ndjson', 'application/',
    'xapplication/json', 'text/plain, application/json',
  ])('is refused when its type is %s', async (type) => {
    expect(await sendText(sound, type)).toEqual(refused('Content-Type must be application/json'));
  });

  it.each([
    'application/json; charset=utf-8',
    'application/json ; charset=utf-8',
    'APPLICATION/JSON',
    'application/vnd.api+json',
    'application/problem+json;x=y',
  ])('is read when its type is %s', async (type) => {
    expect(await sendText(sound, type)).toEqual([200, JSON.parse(sound)]);
  });

  it.each([
    ['a truncated object', sound.slice(0, -1)],
    ['two objects', sound + sound],
    ['a trailing comma', sound.replace('}', ',}')],
    ['names without quotes', '{name:1}'],
    ['single quotes', "{'name':1}"],
    ['a comment', `${sound} // n`],
    ['NaN', '{"x":NaN}'],
    ['a bad escape', String.raw`{"x":"\x41"}`],
    ['a raw newline in a string', '{"x":"a\nb"}'],
    ['a form', 'name=n&email=a%40b'],
    ['a word', 'undefined'],
    ['white space', ' \n '],
    ['60 KB of nested objects that are never closed', '{"a":'.repeat(12_000)],
  ])('is refused when it is not JSON but %s', async (_, body) => {
    expect(await sendText(body)).toEqual(refused('Request body is not valid JSON'));
  });

  it.each([`[${sound}]`, '[]', '"{}"', '1', 'true', 'null'])(
    'is refused when it is not an object but %s',
    async (body) => {
      expect(await sendText(body)).toEqual(refused('Request body must be a JSON object'));
    },
  );

  it.each([
    '{"__proto__":{"role":"admin"}}',
    '{"__proto__":1}',
    String.raw`{"\u005f_proto__":{"role":"admin"}}`,
    '{"x":{"y":[{"__proto__":{"role":"admin"}}]}}',
    '{"constructor":{"prototype":{"role":"admin"}}}',
  ])('is refused when it has a key that could change a prototype: %s', async (body) => {
    expect(await sendText(body)).toEqual(refused('Request body holds a forbidden key'));
  });

  const [openArrays, openObjects] = ['['.repeat(10_000), '{"a":'.repeat(10_000)];

  it.each([
    ['an array', `${openArrays}${']'.repeat(10_000)}`],
    ['an array as a field', `{"a":${openArrays}${']'.repeat(10_000)}}`],
    ['an object', `${openObjects}1${'}'.repeat(10_000)}`],
  ])('is refused when it is %s with 10,000 levels of nesting', async (_, body) => {
    expect(await sendText(body)).toEqual(refused('Request body is nested too deeply'));
  });

  it('is not decoded, even if it looks like base64', async () => {
    const body = base64('{}');

    expect(await send(body, { isBase64Encoded: false })).toEqual(
      refused('Request body is not valid JSON'),
    );
  });
});

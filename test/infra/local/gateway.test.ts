import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { cors } from '../../../infra/cors.ts';
import {
  entriesOf,
  outcome,
  refusal,
  serviceForThisFile,
  uniqueAgent,
} from '../../support/acceptance.ts';
import { register, uniqueEmail } from '../../support/client.ts';

const service = await serviceForThisFile();
const { api, adminToken, url } = service;
const json = { 'content-type': 'application/json' };

/** What the server answers to bytes that no HTTP client would send. */
const exchange = async (request: string): Promise<string> => {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let answer = '';
  socket.setEncoding('utf8').on('data', (chunk) => {
    answer += chunk;
  });
  socket.write(request);
  await once(socket, 'close');
  return answer;
};

describe('The local gateway with a request that is too large', () => {
  const megabytes = (count: number) => 'x'.repeat(count * 1024 * 1024);

  it('passes a body of exactly 10 MB on', async () => {
    const headers = { 'content-type': 'text/plain' };
    const largestBody = megabytes(10);

    const largest = await api('POST', '/api/login', { headers, body: largestBody });
    const larger = await api('POST', '/api/login', { headers, body: `${largestBody}x` });

    expect(outcome(largest)).toEqual(refusal(400, 'Content-Type must be application/json'));
    expect(larger.status).toBe(413);
  });

  it('answers 413 to a body of 11 MB, and then answers the next request on the same connection', async () => {
    const large = await api('POST', '/api/login', { headers: json, body: megabytes(11) });

    expect(outcome(large)).toEqual(refusal(413, 'Request Entity Too Large'));

    expect((await api('GET', '/api/v1/users')).status).toBe(200);
  });

  it.each([
    ['11 KB of headers', 11_000],
    ['100 KB of headers', 100_000],
    ['a megabyte of headers', 1_000_000],
  ])('answers 431 to %s', async (_, length) => {
    const { status, body } = await api('GET', '/api/profile', {
      headers: { x: 'x'.repeat(length) },
    });

    expect([status, body]).toEqual(refusal(431, 'Request Header Fields Too Large'));
  });

  it('answers 431 to 11 KB of query', async () => {
    const { status } = await api('GET', `/api/users?cursor=${'x'.repeat(11_000)}`, {
      token: adminToken,
    });

    expect(status).toBe(431);
  });

  it('passes 9 KB of headers on', async () => {
    const { status } = await api('GET', '/api/v1/users', { headers: { x: 'x'.repeat(9000) } });

    expect(status).toBe(200);
  });
});

describe('The local gateway with a malformed request', () => {
  it.each(['/api/users/%', '/api/users/%zz', '/api/users/%ff', '/%c0%af'])(
    'answers 400 to the path %s',
    async (path) => {
      const answer = await api('GET', path, { token: adminToken });

      expect(outcome(answer)).toEqual(refusal(400, 'Bad Request'));
    },
  );

  // biome-ignore format: a table
  it.each([
    ['no HTTP at all', 'nonsense\r\n\r\n', '400 Bad Request'],
    ['an unknown version', 'GET / HTTP/9.9\r\n\r\n', '400 Bad Request'],
    ['a header without a colon', 'GET / HTTP/1.1\r\nhost\r\n\r\n', '400 Bad Request'],
    ['two lengths', 'POST /api/login HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n', '400 Bad Request'],
    ['endless headers', `GET / HTTP/1.1\r\nhost: x\r\nx: ${'x'.repeat(300_000)}\r\n\r\n`, '431 Request Header Fields Too Large'],
  ])('answers in JSON to %s', async (_, request, status) => {
    const answer = await exchange(request);

    expect(answer.split('\r\n')[0]).toBe(`HTTP/1.1 ${status}`);
    expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toEqual({ message: status.slice(4) });
  });

  it('continues after a client that hangs up in the middle of a body', async () => {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    socket.write('POST /api/login HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{');
    await once(socket, 'connect');
    socket.destroy();

    expect((await api('GET', '/api/v1/users')).status).toBe(200);
  });
});

describe('The local gateway with a body in any language', () => {
  it('passes JSON that is not UTF-8 on, and the function refuses it', async () => {
    const text = Buffer.from(
      JSON.stringify({ name: 'n\u00ff', email: uniqueEmail(), password: 'p' }),
    );
    const body = new Uint8Array(Buffer.from(text.toString('utf8'), 'latin1'));

    const answer = await api('POST', '/api/auth/register', { headers: json, body });

    expect(outcome(answer)).toEqual(refusal(400, 'Request body is not valid UTF-8'));
  });

  it('passes JSON on unchanged, whatever the language', async () => {
    const name = 'Ünï 你好 😀 \u2028 <&>';
    const { id, token } = await register(api, { name });

    const { body } = await api('GET', '/api/profile', { token });

    expect(body.data).toMatchObject({ id, name });
  });
});

describe('The local gateway with repeated parameters and headers', () => {
  it.each(['limit=5&limit=6', 'limit=5&limit=5'])(
    'joins the query %s as API Gateway does',
    async (query) => {
      const answer = await api('GET', `/api/users?${query}`, { token: adminToken });

      expect(outcome(answer)).toEqual(refusal(400, 'limit must be a whole number from 1 to 1000'));
    },
  );

  it('joins repeated headers too, so that a second token is not used', async () => {
    const head = `GET /api/profile HTTP/1.1\r\nhost: x\r\nconnection: close\r\n`;
    const bearer = `authorization: Bearer ${adminToken}\r\n`;

    const answers = await Promise.all([
      exchange(`${head}${bearer}\r\n`),
      exchange(`${head}authorization: Bearer x\r\n${bearer}\r\n`),
      exchange(`${head}${bearer}authorization: Bearer x\r\n\r\n`),
    ]);

    expect(answers.map((answer) => answer.slice(9, 12))).toEqual(['200', '401', '401']);
  });
});

describe('The local gateway', () => {
  it('gives its own responses the headers that every response has', async () => {
    const { headers } = await api('GET', '/nothing');

    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('content-type')).toMatch(/^application\/json/);
    expect(headers.get('x-request-id')).toBe(headers.get('apigw-requestid'));
  });

  it('tells the function the source address and the user agent of a request', async () => {
    const agent = uniqueAgent();
    const user = await register(api);

    await api('PUT', `/api/users/${user.id}`, {
      token: user.token,
      json: { name: 'n' },
      headers: { 'user-agent': agent, 'x-forwarded-for': '203.0.113.9' },
    });

    const [entry] = await entriesOf(service, agent);
    expect(entry).toMatchObject({ ip_address: '127.0.0.1', user_agent: agent });
  });

  it('passes path parameters on still encoded', async () => {
    const { id } = await register(api);
    const encoded = [...String(id)].map((digit) => `%3${digit}`).join('');

    const { status, body } = await api('GET', `/api/users/${encoded}`, { token: adminToken });

    expect([status, body.id]).toEqual([200, id]);
  });

  it.each(['/api/users/', '/api//users', '/api/users/1/', '//api/users', '/api/users/1%2F2'])(
    'has no route for %s',
    async (path) => {
      expect((await api('GET', path, { token: adminToken })).status).toBe(404);
    },
  );
});

describe('The local gateway with a slash behind the path of a page', () => {
  it.each(['/console', '/docs'])('redirects to the page: %s', async (page) => {
    const { status, headers } = await fetch(`${url}${page}/`, { redirect: 'manual' });

    expect([status, headers.get('location')]).toEqual([302, page]);
  });
});

describe('The local gateway with pages of other origins', () => {
  const origin = 'https://app.example.org';
  const preflight = { origin, 'access-control-request-method': 'PUT' };

  it('answers a preflight request for every path, without asking for a token', async () => {
    const { status, text, headers } = await api('OPTIONS', '/api/users/1', { headers: preflight });

    expect([status, text]).toEqual([204, '']);
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(headers.get('access-control-allow-methods')?.split(',')).toEqual(cors.methods);
    expect(headers.get('access-control-allow-headers')?.split(',')).toEqual(cors.requestHeaders);
    expect(Number(headers.get('access-control-max-age'))).toBe(cors.maxAge);
  });

  it('answers 404 to an OPTIONS request that is not a preflight request', async () => {
    expect((await api('OPTIONS', '/api/users/1')).status).toBe(404);
  });

  it.each([
    ['a response', '/api/v1/users', 200],
    ['a refusal', '/api/profile', 401],
    ['the responses of the gateway itself', '/nothing', 404],
  ])('lets these pages read %s', async (_, path, expected) => {
    const { status, headers } = await api('GET', path, { headers: { origin } });

    expect(status).toBe(expected);
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(headers.get('access-control-expose-headers')?.split(',')).toEqual(cors.responseHeaders);
  });

  it('sends no CORS header to a request without an origin', async () => {
    const { headers } = await api('GET', '/api/v1/users');

    expect(headers.has('access-control-allow-origin')).toBe(false);
  });
});

describe('The local gateway with CORS_ORIGINS', async () => {
  const restricted = await serviceForThisFile({
    CORS_ORIGINS: 'https://one.example.org, https://two.example.org',
  });
  const allowedTo = async (origin: string) => {
    const answer = await restricted.api('GET', '/api/v1/users', { headers: { origin } });
    return answer.headers.get('access-control-allow-origin');
  };

  it('lets only the pages of these origins read responses', async () => {
    const [one, two] = ['https://one.example.org', 'https://two.example.org'];
    const others = ['https://three.example.org', `${one}.evil.example`, 'null', '*'];

    expect([await allowedTo(one), await allowedTo(two)]).toEqual([one, two]);
    for (const origin of others) expect(await allowedTo(origin), origin).toBeNull();
  });
});

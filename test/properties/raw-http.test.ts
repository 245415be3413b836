import { connect } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { listUsers, serviceForThisFile } from '../support/acceptance.ts';
import { endpoints } from '../support/examples.ts';
import { counted, holds } from '../support/runs.ts';
import { anyText } from './texts.ts';

const service = await serviceForThisFile();
const { api, adminToken } = service;
const { port } = new URL(service.url);

/** Milliseconds after which a connection that is still open counts as a fault: one that hangs, not a slow one. */
const patience = 150_000;

/** What the service answers to bytes, after which the client sends no more. */
const exchange = counted(async (bytes: string): Promise<string> => {
  const socket = connect({ port: Number(port), host: '127.0.0.1', timeout: patience });
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  socket.on('error', () => undefined);
  let late = false;
  socket.on('timeout', () => {
    late = true;
    socket.destroy();
  });
  socket.end(Buffer.from(bytes, 'latin1'));
  await new Promise((resolve) => socket.on('close', resolve));
  expect(late).toBe(false);
  return Buffer.concat(chunks).toString('latin1');
});

interface RawAnswer {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

const answerForm = /HTTP\/1\.1 (\d{3}) [^\r\n]*\r\n((?:[^\r\n]+\r\n)*)\r\n/g;

/** Answers of one connection. None of the service's bodies looks like the head of an answer. */
const parse = (received: string): readonly RawAnswer[] => {
  const heads = [...received.matchAll(answerForm)];
  return heads.map(({ 0: whole, 1: status, 2: head = '', index }, i) => ({
    status: Number(status),
    head,
    body: received.slice(index + whole.length, heads[i + 1]?.index),
  }));
};

/** Chunks are a line of their length and a line of their content; JSON has no line breaks. */
const unchunk = (head: string, body: string): string =>
  /transfer-encoding: chunked/i.test(head)
    ? body
        .split('\r\n')
        .filter((_, i) => i % 2 === 1)
        .join('')
    : body;

const expectSoundAnswers = (received: string): void => {
  const answers = parse(received);
  expect(received === '' || received.startsWith('HTTP/1.1 ')).toBe(true);
  for (const { status, head, body } of answers) {
    expect(status).toBeLessThan(500);
    expect(head).not.toMatch(/x-powered-by|server:/i);
    const text = unchunk(head, body);
    // Node's own refusals (no host, an expectation) have no body.
    if (text === '' || /^content-type: text\/html/im.test(head)) continue;
    const answer = JSON.parse(text);
    if (status >= 400) expect(answer).toEqual({ message: expect.any(String) });
  }
};

const seldom = <T>(usual: fc.Arbitrary<T>, unusual: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  fc.oneof({ weight: 7, arbitrary: usual }, { weight: 1, arbitrary: unusual });

const methods = seldom(
  fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'),
  fc.constantFrom('TRACE', 'CONNECT', 'PROPFIND', 'get', 'QUERY', 'XX', '', 'GET POST'),
);
const targets = seldom(
  fc.constantFrom(
    ...new Set(endpoints.map(({ path }) => path.replace('{id}', '1'))),
    ...['/', '//', '/api/users/'],
    ...['/api/users/%', '/api/users/%00', '/api/users/%2e%2e', '/api/users/1?a=%', '/%ff'],
    ...['/api/users/1/../2', '/API/USERS', '/api/users?limit=1&limit=2', '/?'.repeat(3000)],
  ),
  fc.oneof(fc.constantFrom('*', '\\', '/#', 'http://other/api/users', 'a b'), anyText),
);
const versions = seldom(
  fc.constant('HTTP/1.1'),
  fc.constantFrom('HTTP/1.0', 'HTTP/2.0', 'HTTP/9', ''),
);

const headerLines = fc.oneof(
  fc.constantFrom(
    ...['Host: a', 'Host: ', 'Content-Length: 0', 'Content-Length: 5', 'Content-Length: -1'],
    ...['Content-Length: 1e9', 'Content-Length: 99999999999999999999', 'Content-Length: 5, 6'],
    ...['Transfer-Encoding: chunked', 'Transfer-Encoding: gzip, chunked', 'Expect: 100-continue'],
    ...['Expect: more', 'Connection: upgrade', 'Upgrade: h2c', 'Connection: keep-alive', ': x'],
    ...['Content-Type: application/json', 'Content-Encoding: gzip', 'Authorization', 'X : y'],
    ...['X-Folded: a\r\n b', 'X: \0', `X: ${'x'.repeat(300_000)}`, 'Origin: null', '__proto__: 1'],
    ...['Access-Control-Request-Method: GET', 'Cookie: a=b; c', 'Range: bytes=0-'],
    `Authorization: Bearer ${adminToken.slice(0, -2)}`,
  ),
  fc.tuple(anyText, anyText).map(([name, value]) => `${name}: ${value}`),
);

const payloads = fc.oneof(
  fc.constantFrom('', '{}', '{"name":"n"}', '5\r\nhello\r\n0\r\n\r\n', '5\r\n', 'fffffffff\r\n'),
  fc.constantFrom('GET /api/profile HTTP/1.1\r\nHost: a\r\n\r\n', '-1\r\n', '\r\n\r\n'),
  anyText,
);

const lineBreaks = seldom(fc.constant('\r\n'), fc.constantFrom('\n', '\r'));

const soundest = ['Host: a', 'Content-Type: application/json'];
const soundLines = fc.subarray([...soundest, 'Accept: */*']);

const almostHttp = fc
  .record({
    start: fc.tuple(methods, targets, versions),
    sound: seldom<string[]>(fc.constant(soundest), soundLines),
    odd: seldom<string[]>(fc.constant([]), fc.array(headerLines, { maxLength: 3 })),
    payload: payloads,
    announced: seldom(fc.constant(true), fc.constant(false)),
    newline: lineBreaks,
  })
  .map(({ start, sound, odd, payload, announced, newline }) => {
    const length = announced ? [`Content-Length: ${Buffer.byteLength(payload)}`] : [];
    return [start.join(' '), ...sound, ...odd, ...length, '', payload].join(newline);
  });

/** A character is a byte. */
const bytes = fc.oneof(
  { weight: 3, arbitrary: almostHttp },
  { weight: 3, arbitrary: almostHttp.map((text) => Buffer.from(text).toString('latin1')) },
  { weight: 1, arbitrary: fc.string({ unit: fc.nat(255).map((n) => String.fromCharCode(n)) }) },
);

describe('Whatever bytes arrive,', () => {
  it('the responses are valid, nothing is changed, and the service keeps running', async () => {
    const before = await listUsers(api, adminToken);

    await holds(
      500,
      fc.asyncProperty(bytes, async (sent) => expectSoundAnswers(await exchange(sent))),
    );

    expect(await listUsers(api, adminToken)).toEqual(before);
    expect(service.process?.exitCode).toBeNull();
    expect((await api('GET', '/api/profile', { token: adminToken })).status).toBe(200);
  });
});

import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { revalidated } from '../../../lib/http/page-files.ts';
import type { ApiRequest } from '../../../lib/http/request.ts';
import { gatewayEvent } from '../../support/event.ts';

const text = { body: '<p>', contentType: 'text/html' };
const tag = `"${createHash('sha256').update('<p>').digest('base64url')}"`;

describe('A text that a client may keep', () => {
  // No client ever sees the body of a 304 or of a response to HEAD, so a test over HTTP could not check it.
  it.each([
    ['GET', undefined, 200, '<p>'],
    ['GET', '"other"', 200, '<p>'],
    ['GET', tag, 304, ''],
    ['GET', `W/${tag}`, 304, ''],
    ['GET', `"other", ${tag}`, 304, ''],
    ['GET', ' * ', 304, ''],
    ['GET', '"other,*"', 200, '<p>'],
    ['GET', '', 200, '<p>'],
    ['GET', 'W/"other", "another"', 200, '<p>'],
    ['HEAD', undefined, 200, ''],
    ['HEAD', tag, 304, ''],
  ])(
    'is answered for %s with If-None-Match %s by status %i and the body "%s"',
    (method, known, statusCode, body) => {
      const headers = known === undefined ? {} : { 'if-none-match': known };
      const request = gatewayEvent({ method, headers }) as unknown as ApiRequest;

      expect(revalidated(request, text, { 'X-Own': 'x' })).toEqual({
        statusCode,
        headers: { 'Cache-Control': 'no-cache', ETag: tag, Vary: 'Accept-Encoding', 'X-Own': 'x' },
        contentType: 'text/html',
        body,
      });
    },
  );

  it.each([
    ['gzip, br', '"other"', 200, 'gzip'],
    ['gzip', tag, 200, 'gzip'],
    ['gzip;q=0', tag, 304, undefined],
    ['br', undefined, 200, undefined],
  ])(
    'is answered to a client that accepts %s and has the tag %s by status %i in the coding %s',
    (coding, known, statusCode, encoding) => {
      const headers = { 'accept-encoding': coding, ...(known && { 'if-none-match': known }) };
      const request = gatewayEvent({ headers }) as unknown as ApiRequest;

      const response = revalidated(request, text);
      const again = revalidated(
        { ...request, headers: { ...headers, 'if-none-match': response.headers.ETag } },
        text,
      );

      expect([response.statusCode, response.headers['Content-Encoding']]).toEqual([
        statusCode,
        encoding,
      ]);
      if (encoding) expect(gunzipSync(response.body).toString()).toBe('<p>');
      expect([again.statusCode, again.body]).toEqual([304, '']);
    },
  );
});

import { describe, expect, it } from 'vitest';
import { configFrom } from '../../../lib/ground/settings.ts';
import { serviceForThisFile } from '../../support/acceptance.ts';
import { documentFor } from '../../support/document.ts';

const { api } = await serviceForThisFile();
const path = '/openapi.json';
/** In a rehearsal only the gateway knows the name of the server. */
const server = process.env.SERVICE_URL
  ? /^https:\/\/[\w.-]+$/
  : /^http:\/\/(127\.0\.0\.1|localhost):\d+$/;

describe('GET /openapi.json', () => {
  it('answers with the document for the settings in force and for the requested server', async () => {
    const { status, headers, body } = await api('GET', path);

    expect([status, headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
    expect(body).toEqual(documentFor(configFrom({}), body.servers[0].url));
    expect(body.servers[0].url).toMatch(server);
  });
});

describe.each(['/openapi.json', '/docs'])('%s', (path) => {
  it('answers 304 without a body to a client that has it already', async () => {
    const tag = (await api('GET', path)).headers.get('etag') ?? '';

    const { status, text, headers } = await api('GET', path, {
      headers: { 'if-none-match': `"other", W/${tag}` },
    });

    expect([status, text, headers.get('etag')]).toEqual([304, '', tag]);
  });

  it('answers HEAD with the headers of GET, and no body', async () => {
    const got = await api('GET', path);
    const { status, headers, text } = await api('HEAD', path);

    expect([status, text]).toEqual([200, '']);
    for (const name of ['content-type', 'etag', 'cache-control', 'content-security-policy']) {
      expect(headers.get(name)).toBe(got.headers.get(name));
    }
  });
});

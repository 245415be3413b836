import { get, type IncomingHttpHeaders } from 'node:http';
import { get as getSecurely } from 'node:https';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { mark } from '../../../functions/console/mark.ts';
import { renderPage } from '../../../functions/docs/page.ts';
import { errorCodes } from '../../../lib/ground/errors.ts';
import { configFrom } from '../../../lib/ground/settings.ts';
import { serviceForThisFile } from '../../support/acceptance.ts';
import { everySetting } from '../../support/every-setting.ts';

const { api, url } = await serviceForThisFile();
const { text: page, headers } = await api('GET', '/docs');

const all = (pattern: RegExp, text = page): readonly string[] =>
  [...text.matchAll(pattern)].map(([, found = '']) => found);

/** The bytes as they are sent, because fetch would decompress them. */
const rawGet = async (path: string, acceptEncoding?: string) => {
  const request = (url.startsWith('https:') ? getSecurely : get)(url + path, {
    headers: acceptEncoding === undefined ? {} : { 'accept-encoding': acceptEncoding },
    rejectUnauthorized: false,
  });
  return new Promise<{ headers: IncomingHttpHeaders; bytes: Buffer }>((resolve, reject) => {
    request.on('error', reject);
    request.on('response', async (response) =>
      resolve({ headers: response.headers, bytes: await buffer(response) }),
    );
  });
};

describe('GET /docs', () => {
  it('is a page that loads only its own files for its scripts and its styles', async () => {
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    const links = all(/ (?:href|src)="([^"]*)"/g);
    const files = links.filter((link) => link.startsWith('/docs/'));

    expect(files).toHaveLength(5);
    expect(files).toContainEqual(expect.stringMatching(/^\/docs\/notices\.[0-9a-f]{16}\.txt$/));
    expect(links.filter((link) => !files.includes(link))).toEqual([
      mark(),
      '/console',
      '#errors',
      '/openapi.json',
    ]);
    for (const file of files) expect((await api('GET', file)).status).toBe(200);
    expect(page).not.toMatch(/<script(?! defer src=)|<style| style=| on\w+=/);
  });

  it('forbids by its policy content from elsewhere', () => {
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
  });

  it('has a row for every error code, and the type of problem details links to the row of its code', async () => {
    const accept = { headers: { accept: 'application/problem+json' } };
    const { type } = (await api('GET', '/api/profile', accept)).body;

    expect(page).toContain(`<tr id="${type.replace('/docs#', '')}">`);
    const whole = renderPage(configFrom({ ...everySetting, EMAIL_VERIFICATION: 'required' }), {});
    expect(all(/<tr id="([^"]*)"/g, whole).toSorted()).toEqual(errorCodes.toSorted());
    expect(whole).toContain('<code>Bearer</code> and a space');
  });
});

describe('The document', () => {
  it.each([
    ['gzip, deflate, br', 'gzip'],
    [undefined, undefined],
  ])('is sent to a client that accepts %s in the coding %s', async (accepts, coding) => {
    const { headers, bytes } = await rawGet('/openapi.json', accepts);

    expect(headers['content-encoding']).toBe(coding);
    const text = (coding ? gunzipSync(bytes) : bytes).toString();
    expect(JSON.parse(text).openapi).toMatch(/^3\.1/);
  });
});

describe('GET /docs/{file}', () => {
  const [file = ''] = all(/<link rel="stylesheet" href="([^"]*)"/g);

  it.each([
    ['br, gzip', 'br', brotliDecompressSync],
    ['gzip;q=0.5, br;q=0', 'gzip', gunzipSync],
    ['GZIP', 'gzip', gunzipSync],
    ['zstd', undefined, (bytes: Buffer) => bytes],
    [undefined, undefined, (bytes: Buffer) => bytes],
  ] as const)(
    'answers a client that accepts %s in the coding %s',
    async (accepts, coding, decode) => {
      const { headers, bytes } = await rawGet(file, accepts);

      expect(headers['content-encoding']).toBe(coding);
      expect(headers).toMatchObject({
        'cache-control': 'public, max-age=31536000, immutable',
        vary: 'Accept-Encoding',
        'content-type': 'text/css; charset=utf-8',
      });
      expect(decode(bytes).toString()).toContain('.swagger-ui');
    },
  );

  it.each(['names.json', 'page.js', 'constructor'])(
    'answers 404 to a name that the page does not have: %s',
    async (name) => {
      const { status, body } = await api('GET', `/docs/${name}`);

      expect([status, body]).toEqual([404, { message: 'Not Found' }]);
    },
  );
});

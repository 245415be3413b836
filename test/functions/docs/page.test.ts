import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { configFrom } from '../../../lib/config.ts';
import { buildDocument, type OpenApiDocument } from '../../../lib/contract/document.ts';
import { type Example, operationsOf, resolve, responsesOf } from '../../../lib/docs/document.ts';
import { renderPage } from '../../../lib/docs/page.ts';
import { errorCodes } from '../../../lib/errors.ts';
import { serviceForThisFile } from '../../support/acceptance.ts';
import { mailSettings } from '../../support/mailbox.ts';

const { api } = await serviceForThisFile();
const { text: page, headers } = await api('GET', '/docs');
const document: OpenApiDocument = (await api('GET', '/openapi.json')).body;

const all = (pattern: RegExp, text = page): readonly string[] =>
  [...text.matchAll(pattern)].map(([, found = '']) => found);
const ids = all(/ id="([^"]*)"/g);
const links = all(/ href="([^"]*)"/g);
const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));

/** The page's text, as it is read. */
const readable = (html: string): string =>
  html
    .replace(/<style>.*<\/style>/s, '')
    .replace(/<[^>]*>/g, '')
    .replace(/&#(\d+);/g, (_, code) => String.fromCharCode(code));

describe('GET /docs', () => {
  it('answers with a page that names itself after the service', () => {
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page).toContain(`<title>${document.info.title}</title>`);
    expect(page).toMatch(/<footer>Version 1\.0\.0<\/footer>/);
  });

  it('has a section for every operation, under its id', () => {
    expect(ids).toEqual(expect.arrayContaining(operations.map((one) => one.operationId)));
    expect(operations.length).toBeGreaterThan(10);
  });

  it.each(operationsOf(document))('says of $operationId what the document says', (operation) => {
    const { operationId: id, summary } = operation;
    const section = page.slice(page.indexOf(`<section id="${id}">`)).split('</section>')[0] ?? '';
    const text = readable(section);

    expect(text).toContain(summary);
    for (const [status, { description, content = {} }] of responsesOf(operation, 'success')) {
      expect(text).toContain(`Response ${status}\n${description.replaceAll('`', '')}`);
      for (const [type, { example = type }] of Object.entries(content)) {
        expect(text).toContain(`${type}: `);
        expect(text).toContain(example === type ? type : JSON.stringify(example, null, 2));
      }
    }
    const statuses = responsesOf(operation, 'error').map(([status]) => status);
    expect(text).toContain(`Errors of ${id}: ${statuses.join(', ')}\n`);
  });

  it('says of each error code its status and its meaning, and shows an error in both forms', () => {
    const text = readable(page.slice(page.indexOf('<section id="errors">')));

    expect(text).toMatch(/EMAIL_REGISTERED409[A-Z]/);
    expect(text).toMatch(/USER_NOT_FOUND404[A-Z]/);
    for (const name of ['FIELD_INVALID', 'FIELD_INVALID.problem']) {
      const { value } = resolve<Example>(document, { $ref: `#/components/examples/${name}` });
      expect(text).toContain(JSON.stringify(value, null, 2));
    }
  });

  it('has a place for every error code, where the type of problem details leads', async () => {
    const accept = { headers: { accept: 'application/problem+json' } };
    const { type } = (await api('GET', '/api/profile', accept)).body;

    const everything = { SESSIONS: 'revocable', CURRENT_PASSWORD: 'required', ...mailSettings };
    const whole = renderPage(buildDocument(configFrom(everything), 'https://api.example.org'));
    const places = all(/ id="([^"]*)"/g, whole);
    expect(places).toEqual(expect.arrayContaining([...errorCodes]));
    expect(all(/ id="([^"]*)"/g)).toContain(type.split('#')[1]);
  });

  it('has a section for every schema', () => {
    const names = Object.keys(document.components.schemas);
    expect(ids).toEqual(expect.arrayContaining(names.map((name) => `schema-${name}`)));
  });

  it('has no id twice, and no link within the page that leads nowhere', () => {
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
    const within = links.filter((link) => link.startsWith('#'));
    expect(within.filter((link) => !ids.includes(link.slice(1)))).toEqual([]);
  });

  it('leads to the document, and to no other origin', () => {
    expect(links.filter((link) => !link.startsWith('#'))).toEqual(['/openapi.json']);
    expect(page).not.toMatch(/ (src|srcset|action|data)=|@import|url\(/);
  });

  it('has no script and no style but the one that its policy names', () => {
    expect(page).not.toMatch(/<script|<link|<base| style=| on\w+=|javascript:/i);
    const styles = all(/<style>(.+?)<\/style>/gs);
    const hash = createHash('sha256')
      .update(styles[0] ?? '')
      .digest('base64');
    expect(styles).toHaveLength(1);
    expect(headers.get('content-security-policy')).toBe(
      `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    );
  });

  it('shows requests to the server that was asked', () => {
    const url = document.servers[0]?.url;
    const [start = ''] = page.slice(page.indexOf('<section id="start">')).split('</section>');
    expect(readable(start)).toContain(`curl --silent '${url}/api/auth/register'`);
    expect(readable(start)).toContain(`curl '${url}/api/profile'`);
    expect(readable(page)).toContain(`curl '${url}/api/users/17'`);
  });

  it('stays under 150 KB', () => {
    expect(Buffer.byteLength(page)).toBeLessThan(150_000);
  });
});

describe('The page of a service with other settings', () => {
  it.each([
    { USER_DIRECTORY: 'closed' },
    { LOGIN_ANSWERS: 'uniform' },
    { V1_USERS: 'off' },
    { REGISTRATIONS_PER_ADDRESS: '5' },
  ])('has no link that leads nowhere, and no empty cell, with %o', (environment) => {
    const document = buildDocument(configFrom(environment), 'https://api.example.org');
    const page = renderPage(document);

    const targets = all(/ href="#([^"]*)"/g, page);
    expect(targets.filter((id) => !page.includes(` id="${id}"`))).toEqual([]);
    expect(page).not.toMatch(/<t[dh][^>]*>\s*<\/t[dh]>/);
  });
});

describe('A document with hostile text', () => {
  const hostile = `<img src=x onerror=alert(1)> "&' </style></title><script>`;

  /** Every text of the document but references, with the hostile one after it. */
  const poisoned = <T>(value: T, key = ''): T => {
    if (typeof value === 'string') return (key === '$ref' ? value : `${value}${hostile}`) as T;
    if (Array.isArray(value)) return value.map((one) => poisoned(one)) as T;
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value).map(([name, one]) => [name, poisoned(one, name)]);
    return Object.fromEntries(entries);
  };
  const plain = buildDocument(configFrom({}), 'https://api.example.org');
  const tags = (html: string): readonly string[] =>
    all(/<(\/?[a-z]\w*)/g, html.replace(/<style>.*?<\/style>/s, ''));

  it('makes a page of the same elements, with the text to be read', () => {
    const page = renderPage(poisoned(plain));

    expect(page).not.toContain('<img');
    expect(page).not.toContain('<script');
    expect(new Set(tags(page))).toEqual(new Set(tags(renderPage(plain))));
    expect(readable(page)).toContain(plain.info.title + hostile);
    expect(readable(page)).toContain(plain.tags[0]?.description + hostile);
    const wellFormed = /<(?:!doctype html|\/?[a-z]\w*(?: [a-z-]+="[^"]*")*)>/g;
    expect(page.replace(/<style>.*?<\/style>/s, '').replace(wellFormed, '')).not.toMatch(/[<>"']/);
  });

  it('does not end a word of a shell line', () => {
    const server = `https://it's"a>trap`;
    const page = renderPage(buildDocument(configFrom({}), server));

    expect(readable(page)).toContain(String.raw`curl 'https://it'\''s"a>trap/api/profile'`);
  });
});

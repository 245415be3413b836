import { describe, expect, it } from 'vitest';
import { renderLinkPage } from '../../../functions/console/link-page.ts';
import { linkTexts } from '../../../functions/console/link-texts.ts';
import { configFrom } from '../../../lib/ground/settings.ts';
import type { LinkPage } from '../../../lib/options/links/page.ts';

const pages: readonly LinkPage[] = ['reset', 'verify', 'invitation'];
const files = { 'style.css': 's.css', 'link-form.js': 'l.js', 'notices.txt': 'n.txt' };

const render = (env: Readonly<Record<string, string>>, page: LinkPage = 'reset') =>
  renderLinkPage(page, 'en', configFrom(env), files);

describe('The page of a mailed link', () => {
  it('escapes names and URLs, whatever they contain', () => {
    const hostile = `my-app://x"'><script>alert(1)</script>&amp;`;
    const page = render({ PRODUCT_NAME: "Ada's & Söhne", RETURN_URL: hostile });
    const [, link = ''] = /<a href="([^"]*)">/.exec(page) ?? [];

    expect(page.match(/<script/g)).toHaveLength(2);
    expect(page).toContain('<title>Choose a new password · Ada&#39;s &#38; Söhne</title>');
    expect(page).toContain('>Go to Ada&#39;s &#38; Söhne</a>');
    expect(link.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(code))).toBe(hostile);
  });

  it.each(pages)('has one form whose inputs cannot become a part of a URL: %s', (page) => {
    const html = render({}, page);

    expect(html.match(/<form>/g)).toHaveLength(1);
    expect(html.match(/<input [^>]*type="password"/g)).toHaveLength(page === 'verify' ? 1 : 2);
    expect(html.match(/<input [^>]*autocomplete="username"[^>]* hidden>/g)).toHaveLength(1);
    expect(html).not.toMatch(/<input[^>]* name=/);
  });

  it.each([
    ['reset', ['New password', 'New password, once more']],
    ['verify', ['Password of your account']],
    // An invited user has no password yet.
    ['invitation', ['Password', 'Password, once more']],
  ] as const)('names the passwords for which it asks: %s', (page, labels) => {
    const found = [...render({}, page).matchAll(/<label [^>]*>([^<]*)/g)].map(([, label]) => label);

    expect(found).toEqual(labels);
  });

  it('has neither a link nor a name if the settings have none', () => {
    expect(render({})).not.toMatch(/<a |id="return"|class="brand"|undefined/);
  });

  it.each([
    ['invitation', { SESSION_DAYS: '30' }, true],
    // Without sessions, there are no auditors.
    ['invitation', {}, false],
    ['invitation', { SESSION_DAYS: '30', CONSOLE: 'off' }, false],
    ['invitation', { SESSION_DAYS: '30', RETURN_URL: 'my-app://x' }, false],
    ['reset', { SESSION_DAYS: '30' }, false],
    ['verify', { SESSION_DAYS: '30' }, false],
  ] as const)('has a link to the console or not: %s with %o: %j', (page, environment, expected) => {
    expect(render(environment, page).includes('<a href="/console">')).toBe(expected);
  });

  it('has all texts in all languages', () => {
    const shape = (value: unknown): unknown =>
      typeof value === 'object' && value
        ? Object.entries(value).map(([name, inner]) => [name, shape(inner)])
        : typeof value;
    const [english, german] = Object.values(linkTexts);

    expect(shape(german)).toEqual(shape(english));
    expect(JSON.stringify(linkTexts)).not.toContain('""');
  });
});

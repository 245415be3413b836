import { expect, it } from 'vitest';
import { html, textOf } from '../../../lib/docs/html.ts';
import { markdown, markdownLine } from '../../../lib/docs/markdown.ts';

const rendered = (text?: string) => textOf(html`${markdown(text)}`);

it.each([
  ['Plain & simple.', '<p>Plain &#38; simple.</p>'],
  ['One.\n\n\nTwo.', '<p>One.</p><p>Two.</p>'],
  [
    'A `code`, **bold**, a [link](#to-it).',
    '<p>A <code>code</code>, <strong>bold</strong>, a <a href="#to-it">link</a>.</p>',
  ],
  ['`*` and **a*b**', '<p><code>*</code> and **a*b**</p>'],
  ['- one - of\n- `two`\n', '<ul><li>one - of</li><li><code>two</code></li></ul>'],
  ['[elsewhere](https://example.org)', '<p>[elsewhere](https://example.org)</p>'],
  ['', ''],
  [undefined, ''],
])('Markdown of %o is %s', (text, expected) => {
  expect(rendered(text)).toBe(expected);
});

it('A line of Markdown is no paragraph', () => {
  expect(textOf(markdownLine('A `code`.'))).toBe('A <code>code</code>.');
  expect(textOf(markdownLine())).toBe('');
});

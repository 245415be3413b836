/**
 * As much Markdown as the document's descriptions and this folder use: paragraphs, lists, `code`,
 * **bold** and [links](#within) the page.
 */
import { type Html, html } from './html.ts';

const special = /(`[^`]+`|\*\*[^*]+\*\*|\[[^\]]+\]\(#[\w-]+\))/;

const inline = (text: string): readonly (Html | string)[] =>
  text.split(special).map((part, index) => {
    // Every second part is what the pattern matched.
    if (index % 2 === 0) return part;
    if (part.startsWith('`')) return html`<code>${part.slice(1, -1)}</code>`;
    if (part.startsWith('*')) return html`<strong>${part.slice(2, -2)}</strong>`;
    const [label, target] = part.slice(1, -1).split('](');
    return html`<a href="${target}">${label}</a>`;
  });

const block = (text: string): Html =>
  text.startsWith('- ')
    ? html`<ul>${text
        .split(/^- /m)
        .slice(1)
        .map((item) => html`<li>${inline(item.trim())}</li>`)}</ul>`
    : html`<p>${inline(text)}</p>`;

/** A description as paragraphs and lists; without one, nothing. */
export const markdown = (text = ''): readonly Html[] =>
  text
    .split(/\n{2,}/)
    .filter(Boolean)
    .map(block);

/** One line of text. */
export const markdownLine = (text = ''): Html => html`${inline(text)}`;

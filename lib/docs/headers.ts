/** The headers of responses. */
import type { OpenApiDocument } from '../contract/document.ts';
import type { Schema } from './document.ts';
import { type Html, html, joined } from './html.ts';
import { markdownLine } from './markdown.ts';
import { typeOf } from './schemas.ts';

interface Header {
  readonly description?: string;
  readonly required?: boolean;
  readonly schema: Schema;
}

const headerId = (name: string): string => `header-${name}`;

/** The names as a sentence with links to what they mean; nothing for none. */
export const headerLinks = (names: readonly string[]): Html | undefined =>
  names.length === 0
    ? undefined
    : html`<span class="headers">Headers: ${joined(
        names.map((name) => html`<a href="#${headerId(name)}">${name}</a>`),
        ', ',
      )}.</span>`;

const row = ([name, { description, schema }]: readonly [
  string,
  Header,
]): Html => html`<tr id="${headerId(name)}">
<th scope="row"><code>${name}</code></th><td>${typeOf(schema)}<p>${markdownLine(description)}</p></td></tr>
`;

export const headersSection = ({ components }: OpenApiDocument): Html => html`<section id="headers">
<h2><a href="#headers">Response headers</a></h2>
<table><thead><tr><th scope="col">Header</th><th scope="col">Meaning</th></tr></thead>
<tbody>
${Object.entries<Header>(components.headers).map(row)}</tbody></table>
</section>
`;

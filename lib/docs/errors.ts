/** The errors of an operation, and the list of all codes. */
import type { OpenApiDocument } from '../contract/document.ts';
import {
  type ErrorExample,
  type Example,
  errorsIn,
  operationsOf,
  type PageOperation,
  type Response,
  resolve,
  responsesOf,
} from './document.ts';
import { headerLinks } from './headers.ts';
import { type Html, html, joined, trusted } from './html.ts';
import { markdown, markdownLine } from './markdown.ts';

/** A code, which may be broken after an underscore where there is no room for all of it. */
const codeLink = (code: string): Html =>
  html`<a href="#${code}"><code>${joined(code.split(/(?<=_)/), trusted('<wbr>'))}</code></a>`;

const errorRow = ({ code, message }: ErrorExample): Html =>
  html`<tr><td>${codeLink(code)}</td><td>${message}</td></tr>
`;

/** The errors of one status; and its headers, where they are not those of success. */
const statusRows = (
  document: OpenApiDocument,
  [status, response]: readonly [string, Response],
  known: readonly string[],
): Html => {
  const headers = Object.keys(response.headers ?? {}).filter((name) => !known.includes(name));
  return html`<tbody>
<tr><th colspan="2" scope="rowgroup">${status} <span>${markdownLine(response.description)} ${headerLinks(headers)}</span></th></tr>
${errorsIn(document, response).map(errorRow)}</tbody>
`;
};

/** An operation's errors, folded away: every operation has about ten, most of them the same. */
export const errorDetails = (document: OpenApiDocument, operation: PageOperation): Html => {
  const errors = responsesOf(operation, 'error');
  const known = responsesOf(operation, 'success').flatMap(([, { headers = {} }]) =>
    Object.keys(headers),
  );
  return html`<details>
<summary>Errors of ${operation.operationId}: ${errors.map(([status]) => status).join(', ')}</summary>
<table><thead><tr><th scope="col">Code</th><th scope="col">Message</th></tr></thead>
${errors.map((one) => statusRows(document, one, known))}</table>
</details>
`;
};

/** What each code means: the document lists them all in the schema of problem details. */
const meanings = ({ components }: OpenApiDocument): readonly (readonly [string, string])[] => {
  const { description } = components.schemas.Problem.properties.code;
  const lines = description.matchAll(/- `(\w+)`: (.+)/g);
  return [...lines].map(([, code, meaning]) => [code, meaning] as [string, string]);
};

/** The status of every code that some operation, as the settings have it, can answer with. */
const statuses = (document: OpenApiDocument): ReadonlyMap<string, string> =>
  new Map(
    operationsOf(document)
      .flatMap((operation) => responsesOf(operation, 'error'))
      .flatMap(([status, response]) =>
        errorsIn(document, response).map(({ code }) => [code, status] as const),
      ),
  );

/** One error in both of its forms. */
const forms = (document: OpenApiDocument): Html => {
  const shown = (name: string) => {
    const { value } = resolve<Example>(document, { $ref: `#/components/examples/${name}` });
    return html`<pre><code>${JSON.stringify(value, null, 2)}</code></pre>
`;
  };
  return html`<p>An error as it is by default:</p>
${shown('FIELD_INVALID')}<p>The same for a request with <code>Accept: application/problem+json</code>:</p>
${shown('FIELD_INVALID.problem')}`;
};

export const errorsSection = (document: OpenApiDocument): Html => {
  const statusOf = statuses(document);
  const row = ([code, meaning]: readonly [string, string]): Html => html`<tr id="${code}">
<th scope="row">${codeLink(code)}</th><td>${statusOf.get(code)}</td><td>${markdownLine(meaning)}</td></tr>
`;
  return html`<section id="errors">
<h2><a href="#errors">Errors</a></h2>
${forms(document)}<table><thead><tr><th scope="col">Code</th><th scope="col">Status</th><th scope="col">Meaning</th></tr></thead>
<tbody>
${meanings(document).map(row)}</tbody></table>
<section id="gateway">
<h3><a href="#gateway">Without a code</a></h3>
${markdown(document.components.responses.Gateway.description)}</section>
</section>
`;
};

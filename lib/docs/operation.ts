/** The section of one operation. */
import type { OpenApiDocument } from '../contract/document.ts';
import { methodName } from './contents.ts';
import { curlLine } from './curl.ts';
import { type Media, type PageOperation, type Response, resolve, responsesOf } from './document.ts';
import { errorDetails } from './errors.ts';
import { headerLinks } from './headers.ts';
import { type Html, html } from './html.ts';
import { markdown, markdownLine } from './markdown.ts';
import { fieldTable, parameterTable, typeOf } from './schemas.ts';

const example = (text: string): Html => html`<pre><code>${text}</code></pre>
`;

const parameters = (document: OpenApiDocument, operation: PageOperation): Html | undefined => {
  const all = operation.parameters?.map((parameter) => resolve(document, parameter)) ?? [];
  return all.length > 0
    ? html`<h4>Parameters</h4>
${parameterTable(all)}`
    : undefined;
};

const typeLine = (type: string, { schema }: Media): Html =>
  html`<p><code>${type}</code>: ${typeOf(schema)}</p>
`;

const requestBody = (document: OpenApiDocument, { requestBody }: PageOperation) =>
  Object.entries(requestBody?.content ?? {}).map(
    ([type, media]) => html`<h4>Request body</h4>
${typeLine(type, media)}${fieldTable(resolve(document, media.schema))}`,
  );

const success = ([status, { description, headers, content = {} }]: readonly [string, Response]) =>
  html`<h4>Response ${status}</h4>
<p>${markdownLine(description)} ${headerLinks(Object.keys(headers ?? {}))}</p>
${Object.entries(content).map(
  ([type, media]) =>
    html`${typeLine(type, media)}${fieldTable(media.schema)}${
      media.example === undefined ? undefined : example(JSON.stringify(media.example, null, 2))
    }`,
)}`;

export const operationSection = (document: OpenApiDocument, operation: PageOperation): Html => {
  const { operationId, summary, description, method, path } = operation;
  return html`<section id="${operationId}">
<h3><a href="#${operationId}">${summary}</a></h3>
<p class="route"><code>${methodName(method)} ${path}</code></p>
${markdown(description)}
${parameters(document, operation)}${requestBody(document, operation)}<h4>Example</h4>
${example(curlLine(document, operation))}${responsesOf(operation, 'success').map(success)}${errorDetails(document, operation)}</section>
`;
};

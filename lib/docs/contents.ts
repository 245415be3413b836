/** The table of contents. */
import type { OpenApiDocument } from '../contract/document.ts';
import { operationsOf, type PageOperation } from './document.ts';
import { type Html, html } from './html.ts';

export interface Group {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly operations: readonly PageOperation[];
}

/** The operations by tag, in the order of the tags. */
export const groupsOf = (document: OpenApiDocument): readonly Group[] => {
  const operations = operationsOf(document);
  return document.tags.map(({ name, description }) => ({
    id: `tag-${name.toLowerCase().replaceAll(/\W+/g, '-')}`,
    ...{ name, description },
    operations: operations.filter(({ tags }) => tags.includes(name)),
  }));
};

/** A method in its colour. */
export const methodName = (method: string): Html =>
  html`<span class="method ${method.toLowerCase()}">${method}</span>`;

const link = ({ operationId, method, summary }: PageOperation): Html =>
  html`<li><a href="#${operationId}">${summary} ${methodName(method)}</a></li>
`;

const group = ({ id, name, operations }: Group): Html => html`<li><a href="#${id}">${name}</a>
<ul>
${operations.map(link)}</ul></li>
`;

export const contents = (
  groups: readonly Group[],
): Html => html`<nav id="contents" aria-label="Contents">
<ul>
<li><a href="#start">Get started</a></li>
${groups.map(group)}<li><a href="#errors">Errors</a></li>
<li><a href="#headers">Response headers</a></li>
<li><a href="#schemas">Schemas</a></li>
</ul>
</nav>
`;

/**
 * The OpenAPI document as a page for people: without scripts, so that its policy can forbid
 * everything but its one style sheet.
 */
import { createHash } from 'node:crypto';
import type { OpenApiDocument } from '../contract/document.ts';
import { contents, type Group, groupsOf } from './contents.ts';
import { curlLine, tokenLine } from './curl.ts';
import { operationsOf } from './document.ts';
import { errorsSection } from './errors.ts';
import { headersSection } from './headers.ts';
import { type Html, html, textOf, trusted } from './html.ts';
import { markdown } from './markdown.ts';
import { operationSection } from './operation.ts';
import { schemasSection } from './schemas.ts';
import { style } from './style.ts';

/** The Content-Security-Policy that the page must be sent with. */
export const pagePolicy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
  ...["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"],
].join('; ');

const startSection = (document: OpenApiDocument): Html => {
  const requestOf = (id: string): string => {
    const operation = operationsOf(document).find(({ operationId }) => operationId === id);
    return operation ? curlLine(document, operation) : '';
  };
  return html`<section id="start">
<h2><a href="#start">Get started</a></h2>
<p>Register, and keep the token of the response:</p>
<pre><code>${tokenLine(requestOf('register'))}</code></pre>
<p>Send it with every request that needs one:</p>
<pre><code>${requestOf('getProfile')}</code></pre>
<p>When it has expired, <a href="#logIn">log in</a> for another one.</p>
<p><a href="/openapi.json">openapi.json</a> says all of this page for programs, as OpenAPI 3.1.
Generators make clients from it: openapi-typescript for TypeScript, Swift OpenAPI Generator for
Swift, OpenAPI Generator for Kotlin and many other languages.</p>
</section>
`;
};

const groupSection = (
  document: OpenApiDocument,
  group: Group,
): Html => html`<section id="${group.id}">
<h2><a href="#${group.id}">${group.name}</a></h2>
${markdown(group.description)}
${group.operations.map((operation) => operationSection(document, operation))}</section>
`;

/** The page, as HTML. It must be sent with {@link pagePolicy}. */
export const renderPage = (document: OpenApiDocument): string => {
  const { title, description, version } = document.info;
  const groups = groupsOf(document);
  return textOf(html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${trusted(style)}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header><a href="#contents">Contents</a></header>
${contents(groups)}<main id="main" tabindex="-1">
<h1>${title}</h1>
${markdown(description)}
${startSection(document)}${groups.map((group) => groupSection(document, group))}${errorsSection(document)}${headersSection(document)}${schemasSection(document)}</main>
<footer>Version ${version}</footer>
</body>
</html>
`);
};

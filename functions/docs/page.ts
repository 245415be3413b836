/** The page that shows the document: Swagger UI, and below it the list of error codes. */

import { inForce } from '../../lib/contract/contract.ts';
import { info } from '../../lib/contract/document.ts';
import { codesOf } from '../../lib/contract/errors.ts';
import { errorMeanings, httpErrors } from '../../lib/ground/errors.ts';
import type { ServiceValues } from '../../lib/ground/settings.ts';
import type { FileNames } from '../../lib/http/page-files.ts';
import { mark } from '../console/mark.ts';
import { endpoints } from '../contracts.ts';

/** The Content-Security-Policy of the page. Swagger UI sets inline styles. */
export const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The page, as HTML. It must be sent with {@link pagePolicy}. */
export function renderPage(settings: ServiceValues, files: FileNames): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${info.title}</title>
<link rel="icon" href="${mark()}">
<link rel="stylesheet" href="/docs/${files['swagger-ui.css']}">
<link rel="stylesheet" href="/docs/${files['page.css']}">
<link rel="license" href="/docs/${files['notices.txt']}">
<script defer src="/docs/${files['swagger-ui-bundle.js']}"></script>
<script defer src="/docs/${files['page.js']}"></script>
</head>
<body>
<header>
${settings.console === 'on' ? '<a href="/console">To the console</a>' : ''}
<a href="#errors">Error codes</a>
</header>
<noscript><p>This page needs JavaScript. <a href="/openapi.json">The document itself</a> does not.</p></noscript>
<div id="swagger"></div>
<section id="errors" aria-labelledby="errors-title">
<h2 id="errors-title">Error codes</h2>
<table>
<thead><tr><th scope="col">Code</th><th scope="col">Status</th><th scope="col">Meaning</th></tr></thead>
<tbody>
${errorRows(settings)}
</tbody>
</table>
</section>
</body>
</html>
`;
}

/**
 * The list of error codes with which the service can respond. The `type` of problem details is `/docs#CODE`, which is
 * the address of a row of this list (functions/README.md, Problem details).
 */
function errorRows(settings: ServiceValues): string {
  return codesOf(inForce(endpoints, settings), settings)
    .map((code) => {
      const { status } = httpErrors[code];
      return `<tr id="${code}"><th scope="row"><code>${code}</code></th><td>${status}</td><td>${html(errorMeanings[code])}</td></tr>`;
    })
    .join('\n');
}

/** Escapes text for HTML, with the Markdown code spans that the meanings use. */
function html(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replace(/`([^`]*)`/g, '<code>$1</code>');
}

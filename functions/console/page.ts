/** The page of the console, whose script creates everything that it shows (functions/console/web). */

import type { Attribute } from '../../lib/ground/attribute.ts';
import {
  type Config,
  hasAttributes,
  hasIdentities,
  hasMachines,
  hasPasskeys,
  hasSessions,
  keepsSeal,
  type ServiceValues,
  sendsMail,
} from '../../lib/ground/settings.ts';
import type { FileNames } from '../../lib/http/page-files.ts';
import { declaredAttributes } from '../../lib/options/attributes/attributes.ts';
import { emailPattern } from '../../lib/users/fields.ts';
import { mark } from './mark.ts';
import type { PageData } from './page-data.ts';

/** Security headers: scripts cannot turn text into HTML or code, and no other page can frame or control this one. */
export const pageHeaders = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self' data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
  'Cross-Origin-Opener-Policy': 'same-origin',
};

export function renderPage(settings: Config, files: FileNames): string {
  return renderDocument(files, 'main.js', {
    language: 'en',
    title: `${productOf(settings)} console`,
    data: {
      ...dataOf(settings),
      meanings: `/console/${files['meanings.json']}`,
    } satisfies PageData,
    body: '<noscript><p>The console needs JavaScript.</p></noscript>\n<div id="console"></div>',
    // The code that the first script shares with parts of screens that are loaded later.
    preloaded: Object.values(files).filter((name) => name.startsWith('chunk.')),
  });
}

/**
 * A page, as HTML, with the style sheet of the console. It must be sent with {@link pageHeaders}.
 * @param page its body as HTML, the data that its script reads, and the files that the script imports
 */
export function renderDocument(
  files: FileNames,
  script: string,
  page: Readonly<Record<'language' | 'title' | 'body', string>> & {
    readonly data: object;
    readonly preloaded?: readonly string[];
  },
): string {
  return `<!doctype html>
<html lang="${page.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${html(page.title)}</title>
<link rel="icon" href="${mark()}">
<link rel="stylesheet" href="/console/${files['style.css']}">
<link rel="license" href="/console/${files['notices.txt']}">
${preloads(page.preloaded)}<script type="module" src="/console/${files[script]}"></script>
<script type="application/json" id="settings">${json(page.data)}</script>
</head>
<body>
${page.body}
</body>
</html>
`;
}

/** Escapes text for HTML, and for attributes in quotation marks. */
export function html(text: string): string {
  return text.replace(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`);
}

function preloads(names: readonly string[] = []): string {
  return names.map((name) => `<link rel="modulepreload" href="/console/${name}">\n`).join('');
}

function productOf({ productName }: ServiceValues): string {
  return productName || 'Accounts';
}

function dataOf(settings: Config): Omit<PageData, 'meanings'> {
  return {
    product: productOf(settings),
    sessions: hasSessions(settings),
    identities: hasIdentities(settings),
    ...(hasMachines(settings) && { machines: true }),
    ...(hasPasskeys(settings) && { passkeys: JSON.parse(settings.passkeys) }),
    ...(hasAttributes(settings) && {
      attributes: declaredAttributes(settings).map(shownDeclaration),
    }),
    secondFactor: settings.secondFactor,
    passwordMinLength: settings.passwordMinLength,
    emailPattern,
    auditSeal: settings.auditSeal,
    sealed: settings.auditSeal !== 'off' && keepsSeal(settings),
    docs: settings.docs,
    auditDetail: settings.auditDetail,
    passwordReset: sendsMail(settings),
    ...(settings.emailVerification !== 'off' && { verification: true }),
    mailLanguage: settings.mailLanguage,
  };
}

/** JSON that cannot close the HTML element around it, whatever it contains. */
function json(data: object): string {
  return JSON.stringify(data).replaceAll('<', '\\u003c');
}

/** The parts of a declaration that a form needs, and no others: the page is public. */
function shownDeclaration({ name, type, choices, writer }: Attribute) {
  return { name, type, ...(choices && { choices }), ...(writer && { writer }) };
}

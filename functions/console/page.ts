/** The page of the console. Its script makes all that it shows (functions/console/web). */

import {
  type Config,
  hasIdentities,
  hasSessions,
  keepsSeal,
  type ServiceValues,
  sendsMail,
} from '../../lib/ground/settings.ts';
import type { FileNames } from '../../lib/http/kept.ts';
import { emailPattern } from '../../lib/users/fields.ts';
import type { PageData } from './page-data.ts';

/** The Content-Security-Policy of the page. No script of it turns text into HTML or code. */
export const pagePolicy = [
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
].join('; ');

const productOf = ({ productName }: ServiceValues): string => productName || 'Accounts';

const dataOf = (settings: Config): PageData => ({
  product: productOf(settings),
  sessions: hasSessions(settings),
  identities: hasIdentities(settings),
  secondFactor: settings.secondFactor,
  passwordMinLength: settings.passwordMinLength,
  emailPattern,
  auditSeal: settings.auditSeal,
  sealed: settings.auditSeal !== 'off' && keepsSeal(settings),
  docs: settings.docs,
  passwordReset: sendsMail(settings),
});

/** JSON that ends no element, whatever it holds. */
const json = (data: PageData): string => JSON.stringify(data).replaceAll('<', '\\u003c');

/** The page, as HTML. It must be sent with {@link pagePolicy}. */
export const renderPage = (settings: Config, files: FileNames): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${productOf(settings).replaceAll('&', '&amp;')} console</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/console/${files['style.css']}">
<link rel="license" href="/console/${files['notices.txt']}">
<script defer src="/console/${files['main.js']}"></script>
<script type="application/json" id="settings">${json(dataOf(settings))}</script>
</head>
<body>
<noscript><p>The console needs JavaScript.</p></noscript>
<div id="console"></div>
</body>
</html>
`;

/**
 * The pages to which mailed links lead if the app has no such pages: each is a form, which
 * functions/console/web/link-form.ts sends with the token of the link.
 */
import { type Config, hasSessions, type Language } from '../../lib/ground/settings.ts';
import type { FileNames } from '../../lib/http/page-files.ts';
import type { LinkPage } from '../../lib/options/links/page.ts';
import { linkTexts } from './link-texts.ts';
import { html, renderDocument } from './page.ts';
import type { LinkPageData } from './page-data.ts';

/**
 * A page as HTML. It ends with a link to RETURN_URL. If that is not set, the page of an invited auditor ends with a
 * link to the console.
 */
export function renderLinkPage(
  page: LinkPage,
  language: Language,
  settings: Config,
  files: FileNames,
): string {
  const { productName, returnUrl, passwordMinLength } = settings;
  const texts = linkTexts[language];
  const asked = texts[page];
  const { title, password, done, invalid } = asked;
  const hint = passwordMinLength > 1 ? texts.atLeast(passwordMinLength) : '';
  const fields =
    'again' in asked
      ? field('password', password, 'new-password', hint) +
        field('again', asked.again, 'new-password')
      : field('password', password, 'current-password');
  const goBack = `<a href="${html(returnUrl)}">${html(texts.goBack(productName))}</a>`;
  const hasAuditors = hasSessions(settings) && settings.console === 'on';
  const onward =
    page === 'invitation' && hasAuditors && `<a href="/console">${texts.goToConsole}</a>`;
  const data: LinkPageData = {
    path: page === 'verify' ? '/api/email-verifications' : '/api/password-resets',
    said: { ...texts.said, done, invalid, TOO_SHORT: hint },
  };
  return renderDocument(files, 'link-form.js', {
    language,
    title: productName ? `${title} · ${productName}` : title,
    data,
    body: `<main class="sign-in">
<div class="card stack">
${productName && `<p class="brand">${html(productName)}</p>\n`}<h1>${title}</h1>
<noscript><p>${texts.noScript}</p></noscript>
<div id="ask" hidden>
<form>
<input id="account" type="text" autocomplete="username" hidden>
${fields}<div class="row"><button id="send" class="primary">${texts.submit[page]}</button></div>
</form>
</div>
<p id="said" role="status" tabindex="-1"></p>
${returnUrl ? `<p id="return" hidden>${goBack}</p>\n` : onward ? `<p id="console" hidden>${onward}</p>\n` : ''}</div>
</main>`,
  });
}

function field(name: string, label: string, autocomplete: string, hint = ''): string {
  return `<div class="field">
<label for="${name}">${label}</label>
<input id="${name}" type="password" required autocomplete="${autocomplete}" aria-describedby="${name}-hint said">
<p class="muted" id="${name}-hint">${hint}</p>
</div>
`;
}

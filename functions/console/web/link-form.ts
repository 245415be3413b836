/** The script of a page to which a mailed link leads: it sends the link's token with the typed password. */
import type { LinkPageData } from '../page-data.ts';

/** The data in the link. It is removed from the address and the tab's history before anything else happens. */
const { token, email, to } = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
history.replaceState(null, '', location.pathname);
// If another link is opened in this tab, only the fragment changes.
addEventListener('hashchange', () => location.reload());

const find = <E extends HTMLElement = HTMLElement>(id: string) => document.getElementById(id) as E;

const { path, said }: LinkPageData = JSON.parse(find('settings').textContent);
const [form, sentence, button] = [find('ask'), find('said'), find('send')];
const password = find<HTMLInputElement>('password');
/** Absent if the account already has a password. */
const again = document.querySelector<HTMLInputElement>('#again');

/** Shows a sentence, and marks the input that must be corrected. If nothing can be corrected, the form is removed. */
const say = (what: string, wait = ''): void => {
  const wrong = /^(TOO_SHORT|TOO_LONG|CURRENT_PASSWORD_WRONG)$/.test(what) ? password : undefined;
  const input = what === 'differ' ? again : wrong;
  sentence.textContent = (said[what] || said.failed).replace('{wait}', wait);
  sentence.className = what === 'done' ? 'good' : 'bad';
  for (const each of [password, again]) each?.removeAttribute('aria-invalid');
  input?.setAttribute('aria-invalid', 'true');
  input?.focus();
  if (!/^(done|invalid|noToken|EMAIL_REGISTERED)$/.test(what)) return;
  form.remove();
  document.getElementById('return')?.removeAttribute('hidden');
  if (to === 'console') document.getElementById('console')?.removeAttribute('hidden');
  sentence.focus();
};

/** @throws {Error} if there is no response */
const send = async (): Promise<void> => {
  const response = await fetch(path, {
    method: 'PUT',
    headers: { 'Content-Type': 'application/json', Accept: 'application/problem+json' },
    body: JSON.stringify({ token, password: password.value }),
    // Longer than the gateway waits for a function.
    signal: AbortSignal.timeout(35_000),
  });
  if (response.status === 204) return say('done');
  const problem = await response.json().catch(() => ({}));
  const code = problem.errors?.[0]?.code ?? problem.code ?? `HTTP_${response.status}`;
  const what = code
    .replace(/^\w+_TOKEN_INVALID$/, 'invalid')
    .replace('HTTP_429', 'TOO_MANY_ATTEMPTS');
  say(what, response.headers.get('Retry-After') ?? '10');
};

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  if (button.ariaBusy) return;
  if (again && again.value !== password.value) return say('differ');
  button.ariaBusy = 'true';
  sentence.textContent = '';
  await send().catch(() => say('failed'));
  button.ariaBusy = null;
});

if (token) {
  find<HTMLInputElement>('account').value = email ?? '';
  form.hidden = false;
  password.focus();
} else say('noToken');

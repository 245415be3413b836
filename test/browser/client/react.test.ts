/** `accounts-client/react`, in a page that a server has rendered. */
import { expect, it } from 'vitest';
import { serviceForThisFile } from '../../support/acceptance.ts';
import { newAccount } from '../../support/verification.ts';
import { browserForThisFile } from '../browser.ts';
import { clientPageForThisFile, openClient } from './page.ts';

const { url } = await serviceForThisFile({ SESSION_DAYS: '90' });
const app = await clientPageForThisFile(
  () => url,
  `import { createElement } from 'react';
  import { renderToString } from 'react-dom/server';
  import { hydrateRoot } from 'react-dom/client';
  import { useUser } from './react.ts';
  const Greeting = () => {
    const user = useUser(accounts);
    return createElement('p', null, user === undefined ? '…' : (user?.email ?? 'Log in'));
  };
  const complaints = [];
  const root = document.body.appendChild(document.createElement('div'));
  root.innerHTML = renderToString(createElement(Greeting));
  const rendered = root.textContent;
  hydrateRoot(root, createElement(Greeting), { onRecoverableError: ({ message }) => complaints.push(message) });
  Object.assign(window, { rendered, complaints });`,
);
const browser = await browserForThisFile();

it('A component shows who is signed in, after a first rendering that equals the rendering of the server', async () => {
  const { name, email, password } = newAccount();
  const page = await openClient(browser, app);
  await page.getByText('Log in').waitFor();

  await page.evaluate(`accounts.register(${JSON.stringify({ name, email, password })})`);
  await page.getByText(email).waitFor();
  await page.reload();
  await page.getByText(email).waitFor();

  expect(await page.evaluate('[rendered, complaints]')).toEqual(['…', []]);
});

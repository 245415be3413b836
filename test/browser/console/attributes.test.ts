import { expect, it } from 'vitest';
import { serviceForThisFile } from '../../support/acceptance.ts';
import { register } from '../../support/client.ts';
import { appoint } from '../../support/examples.ts';
import { browserForThisFile } from '../browser.ts';
import { openConsole, signIn } from '../console.ts';
import { openPage, violationsIn } from '../page.ts';

const service = await serviceForThisFile({
  SESSION_DAYS: '90',
  USER_ATTRIBUTES: JSON.stringify([
    { name: 'plan', type: 'choice', choices: ['free', 'pro'] },
    { name: 'seats', type: 'number' },
    { name: 'terms', type: 'boolean' },
    { name: 'born', type: 'date' },
    { name: 'size', type: 'choice', choices: ['20', '5'] },
    { name: 'nick', type: 'text', maxLength: 5, writer: 'user' },
  ]),
});
const { api, adminToken: token } = service;
const browser = await browserForThisFile();

it('An admin changes all attributes of a user, and the trail shows the values before and after', async () => {
  const { id } = await register(api);
  const shown = async () => (await api('GET', `/api/users/${id}`, { token })).body.attributes;
  const { page } = await openConsole(browser, service, `#/users/${id}`);
  const save = () => page.getByRole('button', { name: 'Save the attributes' }).click();

  await page.getByLabel('plan', { exact: true }).selectOption('pro');
  const sizes = page.getByLabel('size', { exact: true }).getByRole('option');
  expect(await sizes.allInnerTexts()).toEqual(['Not set', '20', '5']);
  await page.getByLabel('seats', { exact: true }).fill('2.5');
  await page.getByLabel('terms', { exact: true }).selectOption('Yes');
  await page.getByLabel('born', { exact: true }).fill('2000-02-29');
  await page.getByLabel('nick', { exact: true }).fill('too long');
  await save();
  await page.locator('[aria-invalid]').waitFor();
  expect(await violationsIn(page)).toEqual([]);
  await page.getByLabel('nick', { exact: true }).fill('Ada');
  await save();

  await page.getByText('plan: unset → pro').waitFor();
  const all = { plan: 'pro', seats: 2.5, terms: true, born: '2000-02-29', nick: 'Ada' };
  expect(await shown()).toEqual(all);
  await page.getByLabel('seats', { exact: true }).fill('');
  await page.getByLabel('plan', { exact: true }).selectOption('Not set');
  await save();
  await page.getByText('plan: pro → unset').waitFor();
  const { plan: _, seats: __, ...rest } = all;
  expect(await shown()).toEqual(rest);
});

it('An auditor sees all attributes of their own account, and sets an attribute that users may set', async () => {
  const user = await appoint(api, token, await register(api));
  const json = { attributes: { plan: 'free' } };
  await api('PUT', `/api/users/${user.id}`, { token, json });
  const { page } = await openPage(browser, `${service.url}/console`);
  await signIn(page, user);
  await page.getByRole('link', { name: 'My account' }).click();

  await page.getByLabel('nick', { exact: true }).fill('Ada');
  await page.getByRole('button', { name: 'Save the attributes' }).click();

  await page.getByText('The attributes are saved.').waitFor();
  await page.getByRole('term').getByText('born').waitFor();
  expect(await page.getByRole('term').allInnerTexts()).toEqual([
    'plan',
    'seats',
    'terms',
    'born',
    'size',
  ]);
  const answer = await api('GET', '/api/profile', { token: user.token });
  expect(answer.body.data.attributes).toEqual({ plan: 'free', nick: 'Ada' });
});

import { expect, it } from 'vitest';
import { logIn, register } from '../support/client.ts';
import { identityServiceForThisFile, newPerson, startIssuer } from '../support/issuer.ts';
import { enrol } from '../support/second-factor.ts';
import { browserForThisFile } from './browser.ts';
import { openConsole, signIn } from './console.ts';
import { button, openPage, violationsIn } from './page.ts';

const issuer = await startIssuer();
const service = await identityServiceForThisFile(issuer, { SECOND_FACTOR: 'optional' });
const { api, identitiesOf, link } = service;
const browser = await browserForThisFile();

it('The console shows the identities of a user, and unlinks one', async () => {
  const user = await register(api);
  for (const email of ['one@example.org', 'two@example.org']) {
    await link(user.token, newPerson({ email }), { currentPassword: user.password });
  }
  const { page, complaints } = await openConsole(browser, service, `#/users/${user.id}`);
  const row = page.getByRole('row').filter({ hasText: 'one@example.org' });
  const other = page.getByRole('row').filter({ hasText: 'two@example.org' });

  await row.getByRole('button', { name: /^Unlink \d+, / }).click();
  expect(await violationsIn(page)).toEqual([]);
  await button(page.getByRole('dialog'), 'Unlink').click();
  await row.waitFor({ state: 'detached' });
  expect(await identitiesOf(await logIn(api, user))).toMatchObject([{ email: 'two@example.org' }]);

  await button(page, 'Set a password').click();
  await page.getByText('all identities are unlinked').waitFor();
  await page.getByLabel('New password').fill('another password');
  await button(page.getByRole('dialog'), 'Set the password').click();
  await other.waitFor({ state: 'detached' });
  await page.getByText('No identity of another issuer').waitFor();
  expect(complaints).toEqual([]);
});

it('The console unlinks an identity of the signed-in user by password and code', async () => {
  const { admin, adminToken } = service;
  const { password: currentPassword } = admin;
  await link(adminToken, newPerson(), { currentPassword });
  const { page, complaints } = await openConsole(browser, service, '#/account');
  const dialog = page.getByRole('dialog');

  await page.getByText(issuer.url).waitFor();
  expect(await violationsIn(page)).toEqual([]);
  await page.getByRole('button', { name: /^Unlink \d+, / }).click();
  await dialog.getByLabel('Current password').fill(currentPassword);
  await button(dialog, 'Unlink').click();
  await page.getByText('No identity of another issuer').waitFor();
  const token = await logIn(api, admin);
  expect(await identitiesOf(token)).toEqual([]);

  const { recoveryCodes } = await enrol(api, { ...admin, token });
  const [first, second, third = '', fourth] = recoveryCodes;
  await link(token, newPerson(), { currentPassword, code: first });
  const again = await openPage(browser, `${service.url}/console#/account`);
  await signIn(again.page, admin);
  await again.page.getByRole('textbox', { name: 'Code' }).fill(second ?? '');
  await again.page.keyboard.press('Enter');
  await again.page.getByRole('button', { name: /^Unlink \d+, / }).click();
  const asked = again.page.getByRole('dialog');
  await asked.getByLabel('Current password').fill(currentPassword);
  await asked.getByRole('textbox', { name: 'Code' }).fill(third);
  await button(asked, 'Unlink').click();
  await again.page.getByText('No identity of another issuer').waitFor();
  expect(await identitiesOf(await logIn(api, { ...admin, code: fourth }))).toEqual([]);
  expect(
    [...complaints, ...again.complaints].filter((each) => !/status of 401/.test(each)),
  ).toEqual([]);
});

import { expect, it } from 'vitest';
import { serviceForThisFile } from '../../support/acceptance.ts';
import { register, uniqueEmail } from '../../support/client.ts';
import { makeMachine, postAs } from '../../support/machines.ts';
import { browserForThisFile } from '../browser.ts';
import { openConsole } from '../console.ts';
import { button, violationsIn } from '../page.ts';

const service = await serviceForThisFile({ MACHINES: 'on', SESSION_DAYS: '90' });
const plain = await serviceForThisFile({ SESSION_DAYS: '90' });
const { api, adminToken: token } = service;
const browser = await browserForThisFile();

/** Makes a machine that writes an entry, creates a user, and passes on a failed login. */
const active = async () => {
  const name = `Shop ${uniqueEmail()}`;
  const machine = await makeMachine(api, token, ['audit:write', 'users:write', 'client-address'], {
    name,
  });
  const { id, key } = machine;
  const posted = {
    action: 'UPDATE',
    resource: 'shop.orders',
    resourceId: 'Machine #1 did it',
    result: 'SUCCESS',
    occurredAt: new Date().toISOString(),
  };
  const password = 'a long password';
  const user = { name: 'Ada', email: uniqueEmail(), password };
  const backend = { 'machine-key': key, 'client-address': '203.0.113.7' };
  const responses = [
    await postAs(api, key, 'a', [posted]),
    await api('POST', '/api/users', { token: key, json: user }),
    await api('POST', '/api/login', { json: { email: uniqueEmail(), password }, headers: backend }),
  ];
  expect(responses.map(({ status }) => status)).toEqual([201, 201, 404]);
  return { id, name, posted };
};

it('The trail shows the machine of an entry, and whether it wrote it, acted, or passed a request on.', async () => {
  const { id, name } = await active();
  const { page, complaints } = await openConsole(browser, service, `#/audit?machineId=${id}`);
  const rows = page.locator('tbody tr');

  await expect.poll(() => rows.count()).toBe(3);
  await rows.first().getByText(name).waitFor();
  const badges = page.locator('tbody .badge', { hasText: 'Machine' });
  expect(await badges.count(), 'a badge for each, and none from the id of a thing').toBe(3);
  for (const [action, part] of [
    ['LOGIN', 'passed it on'],
    ['CREATE', 'did it'],
    ['UPDATE', 'wrote this entry'],
  ] as const)
    await rows.filter({ hasText: action }).getByText(part).waitFor();
  expect(await violationsIn(page)).toEqual([]);
  expect(complaints).toEqual([]);
});

it('An entry of a machine leads to all that was done to its thing, and says when it happened.', async () => {
  const { id, posted } = await active();
  const { page } = await openConsole(browser, service, `#/audit?machineId=${id}&from=machines`);

  await page.locator('tbody button').click();
  await page.locator(`dd:has-text("${posted.occurredAt}")`).waitFor();
  expect(await violationsIn(page)).toEqual([]);
  await page.getByRole('link', { name: 'All that was done to it' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });

  const query = new URLSearchParams(new URL(page.url()).hash.split('?')[1]);
  expect(Object.fromEntries(query)).toEqual({
    resource: 'shop.orders',
    resourceId: posted.resourceId,
  });
  await page.locator('tbody').getByText('wrote this entry').first().waitFor();
  await button(page, 'More filters').click();
  expect(await page.getByLabel('To whom', { exact: true }).inputValue()).toBe(posted.resourceId);
});

it('The trail is filtered and grouped by machines and resources.', async () => {
  const { id } = await active();
  const { page } = await openConsole(browser, service, '#/audit');

  await button(page, 'More filters').click();
  await page.getByLabel('Machine', { exact: true }).fill(`#${id}`);
  await page.getByLabel('Written by').selectOption('This service');
  await expect.poll(() => page.locator('tbody tr').count()).toBe(2);
  await page.getByLabel('Resource').fill('shop.orders');
  await page.getByLabel('Written by').selectOption('Anyone');
  await expect.poll(() => page.locator('tbody tr').count()).toBe(1);
  await page.getByRole('button', { name: 'Remove filter Resource shop.orders' }).click();
  await expect.poll(() => page.locator('tbody tr').count()).toBe(3);
  await page.getByLabel('Group by').selectOption('Resource');
  await button(page, 'shop.orders').waitFor();
  await page.getByLabel('Group by').selectOption('Machine');
  await page.locator('tbody').getByText(`#${id}`).click();

  await expect.poll(() => page.locator('tbody tr').count()).toBe(3);
});

it('The trail of what was done to a machine takes further filters.', async () => {
  const { id } = await active();
  const { page } = await openConsole(browser, service, `#/audit?resourceId=machine-${id}`);

  await page.getByLabel('Result').selectOption('Success');
  await page.waitForURL(/result=SUCCESS/);

  await expect.poll(() => page.locator('tbody tr').count()).toBe(1);
  expect(page.url()).toContain(`resourceId=machine-${id}`);
});

it('A machine that was removed is shown by its id.', async () => {
  const { id, name } = await active();
  await api('DELETE', `/api/machines/${id}`, { token });
  const { page } = await openConsole(browser, service, `#/audit?machineId=${id}&from=machines`);

  await page.locator('tbody').getByText(`#${id}`, { exact: true }).waitFor();

  expect(await page.getByText(name).count()).toBe(0);
});

it('The overview counts only entries of the service, and asks for nothing new where there are no machines.', async () => {
  for (const [on, from] of [
    [service, 'service'],
    [plain, null],
  ] as const) {
    const { page } = await openConsole(browser, on, '#/users');
    const asked: URL[] = [];
    page.on('request', (request) => asked.push(new URL(request.url())));
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByRole('heading', { name: 'Registrations' }).waitFor();
    const read = asked.filter(({ pathname }) => pathname === '/api/admin/audit-logs');
    expect([...new Set(read.map(({ searchParams }) => searchParams.get('from')))]).toEqual([from]);
  }
});

it('Without machines the console has no screen of machines and no filters for them.', async () => {
  await register(plain.api);
  const { page } = await openConsole(browser, plain, '#/audit');
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));

  await button(page, 'More filters').click();
  await page.locator('tbody tr').first().waitFor();

  expect(await page.getByLabel('Written by').count()).toBe(0);
  expect(await page.getByLabel('Machine').count()).toBe(0);
  expect(await page.getByRole('link', { name: 'Machines' }).count()).toBe(0);
  expect(await page.getByLabel('Group by').getByRole('option').allInnerTexts()).toEqual([
    'Nothing',
    'Who',
    'Source',
    'Action',
    'Reason',
  ]);
  expect(asked.filter((path) => path.startsWith('/api/machines'))).toEqual([]);
});

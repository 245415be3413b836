import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { serviceForThisFile } from '../../support/acceptance.ts';
import { register, uniqueEmail } from '../../support/client.ts';
import { browserForThisFile } from '../browser.ts';
import { openConsole } from '../console.ts';
import { violationsIn } from '../page.ts';

const standard = await serviceForThisFile();
const full = await serviceForThisFile({ AUDIT_DETAIL: 'full', SESSION_DAYS: '90' });
const { api, adminToken: token } = full;
const browser = await browserForThisFile();

const open = (place: string) => openConsole(browser, full, place);

const ask = async (page: Page, text: string) => {
  await page.getByLabel('Person').fill(text);
  await page.keyboard.press('Enter');
};

describe('The filters of the trail', () => {
  it('take a part of a name, ask which of several users is meant, and know deleted users', async () => {
    const one = await register(api, { name: 'Grace Hopper' });
    const gone = await register(api, { name: 'Admiral Grace' });
    const only = await register(api, { name: 'Only Gone' });
    for (const { id } of [gone, only]) await api('DELETE', `/api/users/${id}`, { token });
    const { page, complaints } = await open('#/audit');

    await ask(page, 'only go');
    await page.waitForURL(`**/console#/audit?about=${only.id}`);
    await ask(page, 'grace');
    await page.getByText('Which person?').waitFor();
    expect(await violationsIn(page)).toEqual([]);
    await page.getByRole('button', { name: 'Admiral Grace' }).click();
    await page.waitForURL(`**/console#/audit?about=${gone.id}`);
    await ask(page, 'hopper');

    await page.waitForURL(`**/console#/audit?about=${one.id}`);
    expect(complaints).toEqual([]);
  });

  it('say that names of deleted users are not kept if that is so, and do not speak of integers', async () => {
    const { page } = await openConsole(browser, standard, '#/audit');
    await ask(page, 'no such name');
    expect(await page.getByRole('alert').innerText()).toBe(
      'The filters were not applied. No user has no such name in the name or the address. The trail does not keep the names of those who are deleted: type the id.',
    );

    await page.goto(`${standard.url}/console#/audit?userId=ada`);

    await page.getByText('ada is not the id of a user').waitFor();
    expect(await page.locator('body').innerText()).not.toContain('integer');
  });
});

describe('The page of a user', () => {
  it('shows the role and the address of the user at each time, beside the current values', async () => {
    const user = await register(api, { name: 'Ada' });
    const email = uniqueEmail();
    for (const json of [{ role: 'admin' }, { email }, { role: 'user', auditor: true }]) {
      await api('PUT', `/api/users/${user.id}`, { token, json });
    }
    const { page, complaints } = await open(`#/users/${user.id}`);

    await page.getByRole('heading', { name: 'Role and address over time' }).waitFor();
    const rows = page.getByRole('table', { name: 'What the user was' }).locator('tbody tr');
    await expect.poll(() => rows.count()).toBe(4);
    const texts = (await rows.allInnerTexts()).map((text) => text.replace(/\s+/g, ' '));

    expect(texts.map((text) => /(user|admin)(, auditor)?/.exec(text)?.[0])).toEqual([
      'user, auditor',
      'admin',
      'admin',
      'user',
    ]);
    expect(
      texts.map((text) => [email, user.email].findIndex((each) => text.includes(each))),
    ).toEqual([0, 0, 1, 1]);
    expect(texts[0]).toContain('now');
    expect(await violationsIn(page)).toEqual([]);
    for (const [width, isBeside] of [
      [1100, true],
      [1099, false],
    ] as const) {
      await page.setViewportSize({ width, height: 800 });
      const boxes = await Promise.all(
        ['What happened', 'Access'].map((name) => page.getByRole('region', { name }).boundingBox()),
      );
      const [[left, end], [right, otherEnd]] = boxes.map((box) => [
        box?.x ?? 0,
        Math.round((box?.y ?? 0) + (box?.height ?? 0)),
      ]) as [[number, number], [number, number]];
      expect([right > left + 300, end === otherEnd]).toEqual([isBeside, isBeside]);
    }
    expect(complaints).toEqual([]);
  });

  it('has the name of a deleted user in its title, whichever way it is opened', async () => {
    const user = await register(api, { name: 'Alan Turing' });
    await api('DELETE', `/api/users/${user.id}`, { token });
    const { page } = await open(`#/users/${user.id}`);

    await expect.poll(() => page.title()).toContain(`#${user.id} Alan Turing (deleted)`);
    await page.getByRole('link', { name: 'Audit' }).click();
    await page.goto(`${full.url}/console#/users/${user.id}`);

    await expect.poll(() => page.title()).toContain(`#${user.id} Alan Turing (deleted)`);
    await page.getByText('before the trail').waitFor({ state: 'detached' });
  });
});

it('The screen of the settings shows each value with its default and its meaning', async () => {
  const { page, complaints } = await open('#/settings');

  const row = page.getByRole('row', { name: /^sessionDays/ });
  await row.getByText('Changed').waitFor();

  expect((await row.innerText()).replace(/\s+/g, ' ')).toMatch(
    /^sessionDays 90 Changed 0 Days after which a session ends/,
  );
  expect(await page.getByText('secret', { exact: true }).count()).toBe(0);
  expect(await violationsIn(page)).toEqual([]);
  expect(complaints).toEqual([]);
});

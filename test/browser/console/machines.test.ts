import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { serviceForThisFile } from '../../support/acceptance.ts';
import { register } from '../../support/client.ts';
import { appoint } from '../../support/examples.ts';
import { makeMachine } from '../../support/machines.ts';
import { browserForThisFile } from '../browser.ts';
import { openConsole } from '../console.ts';
import { button, violationsIn } from '../page.ts';

const service = await serviceForThisFile({ MACHINES: 'on', SESSION_DAYS: '90' });
const { api, url, adminToken: token } = service;
const browser = await browserForThisFile();

const stored = async (id: number) => (await api('GET', `/api/machines/${id}`, { token })).body;

const rowOf = (page: Page, id: number) =>
  page.locator('tbody tr', { has: page.getByText(`#${id}`, { exact: true }) });

/** The button of a machine, whose name names the machine too. */
const deed = (page: Page, id: number, title: string) =>
  page.getByRole('button', { name: new RegExp(`^${title} .+ #${id}$`) });

/** The key that the dialog shows. */
const shownKey = async (page: Page): Promise<string> => {
  await page.getByText('is shown this once').waitFor();
  return page.getByRole('dialog').locator('code').innerText();
};

/** The status of a request for the trail with a key. */
const statusWith = async (key: string) =>
  (await api('GET', '/api/admin/audit-logs', { token: key })).status;

describe('An admin', () => {
  it('makes a machine, whose key is shown once with a command that writes an entry', async () => {
    const { page, complaints } = await openConsole(browser, service, '#/machines');

    await button(page, 'Make a machine').click();
    await page.getByLabel('Name', { exact: true }).fill('Orders');
    await button(page.getByRole('dialog'), 'Make a machine').click();
    await page.getByText('Choose at least one thing that it may do.').waitFor();
    await page.getByLabel('audit:write').check();
    expect(await violationsIn(page)).toEqual([]);
    await button(page.getByRole('dialog'), 'Make a machine').click();
    const key = await shownKey(page);
    const command = await page.locator('pre').innerText();
    expect(await violationsIn(page)).toEqual([]);

    const given = [...command.matchAll(/-H '([^:]+): ([^']+)'/g)].map(([, name, value]) => [
      name,
      value,
    ]);
    const [, place = ''] = /^curl -X POST (\S+) /.exec(command) ?? [];
    const [, body] = / -d '([^']+)'$/.exec(command) ?? [];
    const run = () =>
      fetch(place, { method: 'POST', headers: Object.fromEntries(given), body: body ?? null });
    expect([(await run()).status, (await run()).status]).toEqual([201, 200]);
    const [, id] = /^mk_(\d+)_/.exec(key) ?? [];
    await button(page, 'I have kept the key').click();
    await rowOf(page, Number(id)).getByText('Orders').waitFor();
    expect(await page.getByText(key).count()).toBe(0);
    expect(await violationsIn(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it('is asked before a key that cannot be shown again is left', async () => {
    const { page } = await openConsole(browser, service, '#/machines');
    const questions: string[] = [];
    page.on('dialog', (dialog) => {
      questions.push(dialog.message());
      return dialog.dismiss();
    });
    await button(page, 'Make a machine').click();
    await page.getByLabel('Name', { exact: true }).fill('Left');
    await page.getByLabel('users:read').check();
    await button(page.getByRole('dialog'), 'Make a machine').click();
    await shownKey(page);

    await page.keyboard.press('Escape');
    await expect.poll(() => questions).toEqual(['The key is not shown again. Leave it?']);

    await shownKey(page);
    expect(await page.locator('pre').count(), 'it cannot write an entry').toBe(0);
  });

  it('changes the name, the scopes and the end of a machine, and nothing else', async () => {
    const { id } = await makeMachine(api, token, ['audit:write']);
    const { page } = await openConsole(browser, service, '#/machines');
    const bodies: unknown[] = [];
    page.on('request', (request) => {
      if (request.method() === 'PUT') bodies.push(request.postDataJSON());
    });
    const save = async () => {
      await button(page, 'Save the changes').click();
      await page.getByText('The changes are saved.').waitFor();
    };

    await deed(page, id, 'Change').click();
    await save();
    await deed(page, id, 'Change').click();
    await page.getByLabel('users:read').check();
    await page.getByLabel('End').fill('2099-12-31T12:00');
    await save();
    // The dialog sends what differs from the row.
    await rowOf(page, id).getByText('users:read').waitFor();
    await deed(page, id, 'Change').click();
    await page.getByLabel('Name', { exact: true }).fill('Renamed');
    await page.getByLabel('End').fill('');
    await save();
    await rowOf(page, id).getByText('Renamed').waitFor();

    expect(bodies).toEqual([
      { scopes: ['audit:write', 'users:read'], expiresAt: expect.stringMatching(/Z$/) },
      { name: 'Renamed', expiresAt: null },
    ]);
    expect(await stored(id)).toMatchObject({
      name: 'Renamed',
      scopes: ['audit:write', 'users:read'],
      expires_at: null,
    });
  });

  it('makes another key, beside which the one before stays good for a day, or ends now', async () => {
    const { id, key: first } = await makeMachine(api, token, ['audit:read']);
    const { page } = await openConsole(browser, service, '#/machines');
    const another = async () => {
      await deed(page, id, 'Another key').click();
      await page.getByText('This key is good for 24 hours more').waitFor();
    };
    const made = async () => {
      await button(page, 'Make the key').click();
      const key = await shownKey(page);
      await button(page, 'I have kept the key').click();
      return key;
    };

    await another();
    expect(await violationsIn(page)).toEqual([]);
    const second = await made();
    await rowOf(page, id).getByText('The previous key is good until').waitFor();
    expect([await statusWith(first), await statusWith(second)]).toEqual([200, 200]);
    await another();
    await page.getByLabel('End the present key now').check();
    const third = await made();

    const statuses = await Promise.all([first, second, third].map(statusWith));
    expect(statuses).toEqual([401, 401, 200]);
    await rowOf(page, id)
      .getByText('The previous key is good until')
      .waitFor({ state: 'detached' });
  });

  it('removes a machine, whose keys end', async () => {
    const { id, key } = await makeMachine(api, token, ['audit:read']);
    const { page } = await openConsole(browser, service, '#/machines');

    await deed(page, id, 'Remove').click();
    await page.getByText('its keys end now').waitFor();
    expect(await violationsIn(page)).toEqual([]);
    await button(page, 'Remove the machine').click();
    await page.getByText('The machine is removed.').waitFor();

    await rowOf(page, id).waitFor({ state: 'detached' });
    expect(await statusWith(key)).toBe(401);
  });

  it('sees which machines nobody uses, and why a change failed', async () => {
    const { id } = await makeMachine(api, token, ['audit:read']);
    const { page } = await openConsole(browser, service, '#/users');
    const listed = {
      ...(await stored(id)),
      created_at: '2026-01-01T00:00:00.000Z',
      last_used_on: '2026-01-02',
      expires_at: '2026-01-03T00:00:00.000Z',
    };
    await page.route('**/api/machines', (route) => route.fulfill({ json: { data: [listed] } }));
    await page.getByRole('link', { name: 'Machines' }).click();

    await rowOf(page, id).getByText('Unused', { exact: true }).waitFor();
    await rowOf(page, id).getByText('Ended').waitFor();
    await rowOf(page, id).getByText('Jan 2, 2026 (UTC)').waitFor();
    expect(await violationsIn(page)).toEqual([]);
    await api('DELETE', `/api/machines/${id}`, { token });
    await deed(page, id, 'Change').click();
    await page.getByLabel('Name', { exact: true }).fill('Gone');
    await button(page, 'Save the changes').click();

    await page.getByText('The changes were not saved. Machine not found.').waitFor();
  });
});

describe('An auditor', () => {
  it('looks at machines, and can change none', async () => {
    const auditor = await appoint(api, token, await register(api));
    const { id } = await makeMachine(api, token, ['client-address']);
    const open = { url, admin: auditor };
    const { page, complaints } = await openConsole(browser, open, '#/machines');

    await rowOf(page, id).getByText('client-address').waitFor();

    expect(await page.locator('main').getByRole('button').count()).toBe(0);
    expect(await violationsIn(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });
});

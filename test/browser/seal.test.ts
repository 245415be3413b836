import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, describe, expect, it } from 'vitest';
import { serviceForThisFile } from '../support/acceptance.ts';
import { browserForThisFile } from './browser.ts';
import { openConsole } from './console.ts';
import { violationsIn } from './page.ts';

const folder = mkdtempSync(join(tmpdir(), 'console-'));
afterAll(() => rmSync(folder, { recursive: true }));
const own = folder.slice(-6);
const service = await serviceForThisFile({
  DATA_DIR: folder,
  USERS_TABLE: `users-${own}`,
  AUDIT_TABLE: `audit-${own}`,
  AUDIT_SEAL_INTERVAL: '5',
});
const { api, adminToken: token } = service;
const browser = await browserForThisFile();

const path = '/api/admin/audit-seal';

/** Replaces a part of the service's response about the seal. */
const replaceSeal = (page: Page, part: object) =>
  page.route(`**${path}`, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), ...part } });
  });

/** Opens the screen of the seal, with a part of the response replaced. */
const openSeal = async (part: object = {}) => {
  await expect.poll(async () => (await api('GET', path, { token })).body.newest).not.toBeNull();
  const opened = await openConsole(browser, service, '#/users');
  await replaceSeal(opened.page, part);
  await opened.page.evaluate("location.hash = '#/seal'");
  await opened.page.getByText('Fingerprint of the key').waitFor();
  return opened;
};

const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
const day = 24 * 60;

/** These times make the page show the same text for an hour. */
const checked = {
  at: minutesAgo(12 * 60),
  until: minutesAgo(12 * 60 + 1),
  entries: 4980,
  total: 5130,
  next: minutesAgo(-38),
  recent: true,
  findings: 0,
  named: [],
  found: null,
};

describe('The screen of the seal', () => {
  it('shows the newest file, the fingerprint, and how to verify from elsewhere', async () => {
    const { page, complaints } = await openSeal();
    const { key } = (await api('GET', path, { token })).body;

    await page.getByText(/^Number \d+/).waitFor();
    await page.getByText(key).waitFor();
    await page.getByText('verify-audit --public-key FILE').waitFor();
    await page.getByText('Queries find every entry.').waitFor();
    await page.getByText('Whoever has the permission can delete what is sealed').waitFor();
    await page.getByText('What is sealed never leaves the archive.').waitFor();
    expect(await violationsIn(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it.each([
    ['good after a recent check', checked, true],
    ['neutral after an old check', { ...checked, recent: false }, false],
    ['neutral before the first check', null, false],
    ['good 40 days after findings', { ...checked, found: minutesAgo(40 * day) }, true],
  ])('has a badge that is %s', async (_, check, isGood) => {
    const { page } = await openSeal({ check });

    const badge = page.locator('.badge', { hasText: 'Sealed' });
    expect(await badge.getAttribute('class')).toBe(`badge ${isGood ? 'good' : 'muted'}`);
    expect(await page.getByText('Not checked lately.').count()).toBe(isGood ? 0 : 1);
    expect(await page.locator('.notice.bad').count()).toBe(0);
    expect(await violationsIn(page)).toEqual([]);
  });

  it('says what the last check covered, when it ran, and when the next check comes', async () => {
    const { page } = await openSeal({ check: checked });

    await page.getByText('4,980 checked of 5,130 entries, 12 hours ago; next').waitFor();
    expect(await page.locator(`time[datetime="${checked.next}"]`).innerText()).toMatch(/\d+:\d\d/);
  });

  it('requests a check, and shows its outcome once it is there', async () => {
    const { page, complaints } = await openSeal();
    const before = (await api('GET', path, { token })).body.check?.at;

    await page.getByRole('button', { name: 'Check now' }).click();
    await page.getByText('The next run checks, within').waitFor();
    await expect
      .poll(async () => (await api('GET', path, { token })).body.check?.at)
      .not.toBe(before);
    await page.getByText('The next run checks, within').waitFor({ state: 'detached' });

    expect(complaints).toEqual([]);
  });

  it('requests a whole check, shows how far it is, and that it has ended', async () => {
    const { page, complaints } = await openSeal();
    const ask = page.getByRole('button', { name: 'Check everything' });

    await page.getByText('Never requested.').waitFor();
    await ask.click();
    await page.getByText('A whole check is requested.').waitFor({ state: 'attached' });
    await page.getByText(/^(\d+) of \1 files? checked,/).waitFor();

    await page.getByText('Another one can be requested after').waitFor();
    expect(await ask.count()).toBe(0);
    expect(await violationsIn(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  const asked_at = minutesAgo(90);
  const [open, ended] = [{ ended_at: null }, { ended_at: minutesAgo(45) }];
  it.each([
    ['before its first run', { ...open, checked: 0, of: null }, 'the next run begins it', 0],
    ['in its first part', { ...open, checked: 0, of: 400 }, '0 of 400 files', 0],
    [
      'at its end',
      { ...ended, checked: 400, of: 400 },
      /400 of 400 files checked, .* No findings\.$/,
      0,
    ],
    ['if it ended early', { ...ended, checked: 9, of: 400 }, 'after 9 of 400 files', 0],
    ['a day later', { ...ended, checked: 4, of: 4, asked_at: minutesAgo(2 * day) }, '4 files', 1],
  ])('says how a whole check stands %s', async (_, progress, text, buttons) => {
    const { page } = await openSeal({ whole: { asked_at, ...progress } });

    await page.getByText(text).waitFor();
    expect(await page.getByRole('button', { name: 'Check everything' }).count()).toBe(buttons);
    expect(await violationsIn(page)).toEqual([]);
  });

  it('says when a whole check will end, from its progress so far', async () => {
    const whole = { asked_at, checked: 100, of: 400, ended_at: null };
    const { page } = await openSeal({ whole });

    await page.getByText('100 of 400 files; ends about').waitFor();
    const bar = page.getByRole('progressbar', { name: 'Files checked' });
    expect(await bar.getAttribute('value')).toBe('100');
    const end = page.locator('p', { hasText: 'ends about' }).locator('time');
    const at = Date.parse((await end.getAttribute('datetime')) ?? '');
    // A quarter took an hour and a half, and the page was loaded after the test has begun.
    expect(at - Date.parse(asked_at)).toBeGreaterThanOrEqual(6 * 60 * 60_000 - 60_000);
    expect(await violationsIn(page)).toEqual([]);
  });

  it('names findings as links on every screen, and does not call the trail sealed then', async () => {
    const response = await api('GET', '/api/admin/audit-logs', { token });
    const [entry] = response.body.data;
    const { id, created_at } = entry;
    const at = minutesAgo(3);
    const named = [
      { kind: 'changed', subject: String(id), at },
      { kind: 'missing', subject: 'file 7 (9999999992.ndjson.gz)', at },
    ];
    const { page, complaints } = await openSeal({ check: { ...checked, findings: 12, named } });

    expect(await page.locator('.badge', { hasText: 'Sealed' }).count()).toBe(0);
    await page.getByText('And 10 more findings').waitFor();
    expect(await violationsIn(page)).toEqual([]);
    await page.getByRole('link', { name: 'file 7 (9999999992.ndjson.gz)' }).click();
    expect(await page.evaluate('document.activeElement.id')).toBe('verify');

    await page.route(`**${path}/entries/${id}`, (route) =>
      route.fulfill({
        json: {
          state: 'differs',
          fields: ['ip_address'],
          stored: { ...entry, ip_address: '192.0.2.17' },
          sealed: { ...entry, ip_address: '203.0.113.66' },
        },
      }),
    );
    await page.getByRole('link', { name: `Entry ${id}` }).click();
    const row = page.locator('tbody tr', { has: page.locator(`time[datetime="${created_at}"]`) });
    await row.getByText('Tampered with').first().waitFor();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Since it was sealed, somebody has changed this field.').waitFor();
    await dialog.locator('.badge', { hasText: 'Tampered with' }).waitFor();
    expect(
      (await dialog.locator('tbody tr').allInnerTexts()).map((text) => text.split(/\s+/)),
    ).toEqual([['ip_address', '203.0.113.66', '192.0.2.17']]);
    expect(await violationsIn(page)).toEqual([]);
    await page.keyboard.press('Escape');
    expect(await page.evaluate('document.activeElement.id')).toBe(`entry-${id}`);
    await page.getByRole('alert').getByRole('link', { name: '12 findings' }).click();
    await page.getByText('Fingerprint of the key').waitFor();
    await page.getByRole('link', { name: 'Users' }).click();
    await page.getByRole('alert').getByText('is not as it was sealed').waitFor();
    await page.getByRole('link', { name: 'Seal 12 findings', exact: true }).click();
    await page.getByRole('link', { name: `Entry ${id}` }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('reports findings also if another screen is opened first', async () => {
    const { page } = await openConsole(browser, service, '#/users');
    await replaceSeal(page, { check: { ...checked, findings: 1 } });

    await page.reload();

    await page.getByRole('alert').getByRole('link', { name: '1 finding' }).waitFor();
    await page.setViewportSize({ width: 360, height: 800 });
    const menu = page.getByRole('button', { name: 'Menu 1 finding', exact: true });
    await menu.locator('.dot').waitFor();
    await menu.click();
    await page.getByRole('link', { name: 'Seal 1 finding', exact: true }).click();
    await page.getByText('Fingerprint of the key').waitFor();
    expect(await violationsIn(page)).toEqual([]);
  });

  it('shows on the overview in red that there are findings', async () => {
    const { page } = await openConsole(browser, service, '#/users');
    const named = [{ kind: 'changed', subject: '7', at: minutesAgo(3) }];
    await replaceSeal(page, { check: { ...checked, findings: 1, named } });
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.reload();

    await page.locator('.card .badge.bad', { hasText: '1 finding' }).waitFor();
    await page.locator('.card .bad', { hasText: 'Tampering was found' }).waitFor();
    expect(await violationsIn(page)).toEqual([]);
  });

  it('says by how much sealing is behind, and what happens to entries after each time limit', async () => {
    const { page } = await openSeal({ behind: 600, days: { table: 90, lock: 400, archive: 500 } });

    await page.getByText('Behind by 10:00 min').waitFor();
    const ends = page.getByRole('region', { name: 'How long entries are kept' });
    expect(await ends.locator('dd').allInnerTexts()).toEqual([
      expect.stringMatching(/^90 days\s+After that no query finds an entry/),
      expect.stringMatching(/^400 days\s+Until then nobody can delete/),
      expect.stringMatching(/^500 days\s+After that what is sealed leaves/),
    ]);
  });

  it('says that it could not be read, and reads it when asked again', async () => {
    const { page } = await openConsole(browser, service, '#/users');
    await page.route(`**${path}`, (route) => route.abort());
    await page.evaluate("location.hash = '#/seal'");
    await page.getByText('The seal could not be loaded.').waitFor();
    await page.unroute(`**${path}`);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('Fingerprint of the key').waitFor();

    expect(await page.getByText('could not be loaded').count()).toBe(0);
  });
});

describe('The dialog of an entry', () => {
  it('says that an entry is as it was sealed, after the service has compared both', async () => {
    const { id } = (await api('GET', '/api/admin/audit-logs', { token })).body.data.at(-1);
    const compare = async () => (await api('GET', `${path}/entries/${id}`, { token })).body.state;
    await expect.poll(compare, { timeout: 60_000 }).toBe('equal');

    const { page, complaints } = await openConsole(browser, service, `#/audit?entry=${id}`);

    await page.getByRole('button', { name: 'Compare with the seal' }).click();
    await page.getByRole('dialog').getByText('The entry is as it was sealed.').waitFor();
    expect(complaints).toEqual([]);
  });

  it('says what each answer of the seal means, and shows a deleted entry as it was sealed', async () => {
    const [entry] = (await api('GET', '/api/admin/audit-logs', { token })).body.data;
    const { page, complaints } = await openConsole(browser, service, '#/audit');
    const dialog = page.getByRole('dialog');
    const answer = (state: string, part: object = {}) =>
      page.route(`**${path}/entries/*`, (route) =>
        route.fulfill({ json: { state, stored: entry, sealed: null, ...part } }),
      );
    const saidOf = {
      equal: 'The entry is as it was sealed.',
      inserted: 'somebody has added it to the trail',
      waits: 'The next run of the sealer looks at its time.',
      left: 'nothing can be compared',
      too_large: 'too large to be looked at here',
      not_found: 'That does not mean that the entry was not sealed',
    };

    for (const [state, said] of Object.entries(saidOf)) {
      await answer(state);
      await page.locator('main tbody button').first().click();
      await dialog.getByRole('button', { name: 'Compare with the seal' }).click();
      await dialog.getByText(said).waitFor();
      await page.keyboard.press('Escape');
    }
    const id = 115_192_872_960_001;
    await answer('deleted', { stored: null, sealed: { ...entry, id, ip_address: '203.0.113.66' } });
    await page.evaluate(`location.hash = '#/audit?entry=${id}'`);
    await dialog.getByText('somebody has deleted it from the trail').waitFor();
    await dialog.getByText('203.0.113.66').waitFor();

    expect(await violationsIn(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });
});

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { serviceForThisFile } from '../support/acceptance.ts';
import { browserForThisFile } from './browser.ts';
import { openConsole } from './console.ts';
import { violationsIn } from './page.ts';

const folder = mkdtempSync(join(tmpdir(), 'console-'));
afterAll(() => rmSync(folder, { recursive: true }));
const service = await serviceForThisFile({ DATA_DIR: folder });
const { api, adminToken: token } = service;
const browser = await browserForThisFile();

const path = '/api/admin/audit-seal';

/** Opens the screen of the seal, with a part of the response replaced. */
const openSeal = async (part: object = {}) => {
  await expect.poll(async () => (await api('GET', path, { token })).body.newest).not.toBeNull();
  const opened = await openConsole(browser, service, '#/users');
  await opened.page.route(`**${path}`, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), ...part } });
  });
  await opened.page.evaluate("location.hash = '#/seal'");
  await opened.page.getByText('Fingerprint of the key').waitFor();
  return opened;
};

const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
const day = 24 * 60;

describe('The screen of the seal', () => {
  it('shows the newest file, the fingerprint, and how to verify from elsewhere', async () => {
    const { page, complaints } = await openSeal();
    const { key } = (await api('GET', path, { token })).body;

    await page.getByText('Number 1').waitFor();
    await page.getByText(key).waitFor();
    await page.getByText('verify-audit --public-key FILE').waitFor();
    await page.getByText('Queries find every entry.').waitFor();
    await page.getByText('Whoever has the permission can delete what is sealed').waitFor();
    await page.getByText('What is sealed never leaves the archive.').waitFor();
    expect(await page.locator('.card.broken').count()).toBe(0);
    expect(await violationsIn(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it.each([
    ['that had findings', 2, minutesAgo(5), '2 findings', true],
    ['29 days after findings', 0, minutesAgo(29 * day), 'Findings', true],
    ['31 days after findings', 0, minutesAgo(31 * day), 'No findings', false],
    ['without findings', 0, null, 'No findings', false],
  ])('is red for 30 days after findings: a check %s', async (_, findings, found, text, isRed) => {
    const { page } = await openSeal({ check: { at: minutesAgo(5), findings, found } });

    await page.getByText(text, { exact: true }).waitFor();
    expect(await page.locator('.card.broken').count()).toBe(isRed ? 1 : 0);
    expect(await page.getByText('A check had findings last at').count()).toBe(found ? 1 : 0);
    expect(await violationsIn(page)).toEqual([]);
  });

  it('says by how much sealing is behind, and what happens when entries are not kept longer', async () => {
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

import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { localSigner, makeKey } from '../../lib/seal/folder.ts';
import { serviceForThisFile } from '../support/acceptance.ts';
import { sealedTrail } from '../support/sealed-trail.ts';
import { startBrowser } from './chromium.ts';
import { openConsole } from './console.ts';
import { violationsIn } from './page.ts';

/** Makes the archive of a data folder a link to something in it, in one step. */
const linkArchive = (folder: string, target: string) => {
  symlinkSync(target, join(folder, 'link'));
  renameSync(join(folder, 'link'), join(folder, 'audit-archive'));
};

/** A folder with a trail that was sealed until some minutes ago, in two pages of digests. */
const sealedFolder = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'console-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const key = makeKey();
  const now = Date.now() - 130 * 60_000;
  const { trail } = await sealedTrail(120, { signer: localSigner(key), now });
  mkdirSync(join(folder, 'archive'));
  linkArchive(folder, 'archive');
  writeFileSync(join(folder, 'audit-seal-key.pem'), key);
  for (const [name, file] of trail.archive.files) {
    writeFileSync(join(folder, 'audit-archive', name), file);
  }
  return folder;
};

const folder = await sealedFolder();
const service = await serviceForThisFile({ DATA_DIR: folder });
const browser = await startBrowser();
afterAll(() => browser.close());
afterEach(async () => {
  for (const context of browser.contexts()) await context.close();
});

const open = (place: string) => openConsole(browser, service, place);

describe('The screen of the seal', () => {
  it('verifies the chain, and says what that proves', async () => {
    const { page, complaints } = await open('#/seal');

    await page.getByRole('button', { name: 'Verify' }).click();
    await page.getByText(/^The chain is unbroken\. .* 1\d\d digests/).waitFor();
    await page.getByText('It does not look at the entries').waitFor();

    expect(await violationsIn(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it('names the first break of the chain', async () => {
    const { page } = await open('#/seal');
    // On the second page.
    await page.route(/digests\?.*cursor=/, async (route) => {
      const response = await route.fetch();
      const body = (await response.text()).replace('"count":1,', '"count":2,');
      await route.fulfill({ response, body });
    });

    await page.getByRole('button', { name: 'Verify' }).click();

    await page
      .getByText(/^The chain is broken\. \d{8}T\d{9}Z\.digest\.json is not signed/)
      .waitFor();
    expect(await violationsIn(page)).toEqual([]);
  });

  it('says loudly that the key is another one than this browser has seen', async () => {
    const { page } = await open('#/seal');
    await page.getByText('This browser sees the key for the first time').waitFor();
    await page.reload();
    await page.getByText('This browser has known the key since').waitFor();

    await page.evaluate(`(() => {
      const [name, memory] = Object.entries(localStorage)[0];
      localStorage.setItem(name, memory.replace(/"key":"\\w{8}/, '"key":"00000000'));
    })()`);
    await page.reload();
    const alert = page.getByRole('alert');
    await alert.getByText('The key of the seal has changed.').waitFor();
    expect(await violationsIn(page)).toEqual([]);
    await alert.getByRole('button').click();

    await page.getByText('This browser has known the key since').waitFor();
  });

  it('says that it could not read the archive, and reads it when asked again', async () => {
    linkArchive(folder, 'audit-seal-key.pem');
    const { page } = await open('#/seal');
    await page.getByText('The seal could not be loaded.').waitFor();
    linkArchive(folder, 'archive');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('This browser sees the key for the first time').waitFor();

    expect(await page.getByText('could not be loaded').count()).toBe(0);
  });
});

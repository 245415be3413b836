/** Has the trail sealed of a service that ran for long without a seal, and tampers with it. */
import { makeEntry } from '../../lib/audit/entry.ts';
import { toItem } from '../../lib/audit/record.ts';
import { startBrowser } from '../browser/chromium.ts';
import { openConsole } from '../browser/console.ts';
import { logIn } from '../support/client.ts';
import { writeBatches } from '../support/write-batches.ts';
import type { Admin, Deployment } from './deployment.ts';
import { requireFound, runSealer, sealAndVerify, verify, writeTable } from './seal.ts';
import { requireThat, step } from './step.ts';
import { credentials, isLong, region } from './workspace.ts';

/** Entries of the past, one a second; its end lies before everything else that was recorded. */
const pastEntries = isLong ? 30_000 : 3000;
const pastEnd = Date.now() - 3_600_000;

const makePast = () =>
  Array.from({ length: pastEntries }, (_, index) => {
    const action = { action: 'LOGIN', resource: 'users', result: 'SUCCESS', user_id: 1 } as const;
    const now = new Date(pastEnd - index * 1000);
    return toItem(makeEntry(action, { now }), { writeId: String(index) });
  });

const writePast = async ({ emulator, outputs }: Deployment) => {
  const items = makePast();
  const endpoint = `http://127.0.0.1:${emulator.port}`;
  await writeBatches(endpoint, outputs.AuditTableName ?? '', items, { region, credentials });
  return items;
};

/** What admins are shown of the seal. */
const shownTo = async (admin: Admin, { api }: Deployment) => {
  const { status, body } = await api('GET', '/api/admin/audit-seal', {
    token: await logIn(api, admin),
  });
  requireThat(status === 200 && body.behind === null, `Shown: ${JSON.stringify(body)}`);
  return body;
};

/** Whether the card of the seal is red in the console. */
const isRed = async (admin: Admin, { edge: { url } }: Deployment): Promise<boolean> => {
  const browser = await startBrowser();
  try {
    const { page } = await openConsole(browser, { url, admin }, '#/seal');
    await page.getByText('Fingerprint of the key').waitFor();
    return (await page.locator('.card.broken').count()) === 1;
  } finally {
    await browser.close();
  }
};

const sealPast = async (deployment: Deployment, admin: Admin): Promise<string> => {
  const verified = await sealAndVerify(deployment);
  const { newest } = await shownTo(admin, deployment);
  requireThat(newest.count >= pastEntries, `Sealed: ${JSON.stringify(newest)}`);
  requireThat(!(await isRed(admin, deployment)), 'The card of the seal is red before anything');
  return verified;
};

/** Changes an entry and deletes another: verification and the sealer's check name both. */
const tamperWithPast = async (
  deployment: Deployment,
  admin: Admin,
  [changed, deleted]: ReturnType<typeof makePast>,
): Promise<string> => {
  if (!changed || !deleted) throw new Error('There is no past to tamper with');
  await writeTable(deployment, [{ ...changed, ip_address: '192.0.2.66' }], [deleted.id]);

  await requireFound(deployment, [
    `changed: ${changed.id} `,
    'ip_address: null -> "192.0.2.66"',
    `deleted: ${deleted.id} `,
    'NOT INTACT: 2 findings',
  ]);
  await runSealer(deployment);
  const { check } = await shownTo(admin, deployment);
  requireThat(check?.findings === 2, `The check of the sealer: ${JSON.stringify(check)}`);
  requireThat(await isRed(admin, deployment), 'The card of the seal is not red');

  await writeTable(deployment, [changed, deleted], []);
  return verify(deployment);
};

/** Seals what was recorded before there was a seal, and has tampering with it told. */
export const rehearsePast = async (deployment: Deployment, admin: Admin): Promise<void> => {
  const past = await step(`Write ${pastEntries} audit entries of the past`, () =>
    writePast(deployment),
  );
  await step('Seal them, and verify them', () => sealPast(deployment, admin), String);
  await step(
    'Change one and delete one: verification, the check and the console tell it',
    () => tamperWithPast(deployment, admin, past),
    String,
  );
};

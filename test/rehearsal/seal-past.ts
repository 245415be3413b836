/** Has the audit trail sealed of a service that ran for long without a seal, over two runs. */
import { createPublicKey } from 'node:crypto';
import { makeEntry } from '../../lib/audit/entry.ts';
import { toItem } from '../../lib/audit/store.ts';
import { digestName, readDigest, type SignedDigest } from '../../lib/seal/digest.ts';
import { logIn } from '../support/client.ts';
import { writeBatches } from '../support/write-batches.ts';
import type { Admin, Deployment } from './deployment.ts';
import { aws, findSealer, runSealer, verify } from './seal.ts';
import { requireThat, step } from './step.ts';
import { sealWindow } from './template.ts';
import { credentials, region } from './workspace.ts';

/** Entries of the past, one a second; its end lies before everything else that was recorded. */
const pastEntries = 6 * Number(sealWindow);
const pastEnd = Date.now() - 3_600_000;

const writePast = ({ emulator, outputs }: Deployment): Promise<void> => {
  const items = Array.from({ length: pastEntries }, (_, index) => {
    const action = { action: 'LOGIN', resource: 'users', result: 'SUCCESS', user_id: 1 } as const;
    const now = new Date(pastEnd - index * 1000);
    return toItem(makeEntry(action, { now }), { writeId: String(index) });
  });
  const endpoint = `http://127.0.0.1:${emulator.port}`;
  return writeBatches(endpoint, outputs.AuditTableName ?? '', items, { region, credentials });
};

/** Seconds: less than a sealer wants to have left for another window, and all that it can have. */
const timeOfOneWindow = '100';
const timeOfAll = '900';

const runWithin = async (deployment: Deployment, timeout: string): Promise<void> => {
  const args = [...(await findSealer(deployment)), '--timeout', timeout];
  await aws(deployment, 'lambda', 'update-function-configuration', ...args);
  await runSealer(deployment);
};

/** What admins are shown of the seal. */
const shownTo = async (admin: Admin, { api }: Deployment) => {
  const token = await logIn(api, admin);
  const get = (end: string) => api('GET', `/api/admin/audit-seal${end}`, { token });
  const [summary, digests, key] = [await get(''), await get('/digests'), await get('/public-key')];
  const statuses = [summary, digests, key].map(({ status }) => status).join(' ');
  requireThat(statuses === '200 200 200', `The endpoints of the seal answered ${statuses}`);
  return { summary: summary.body, digests: digests.text, key: createPublicKey(key.text) };
};

type Shown = Awaited<ReturnType<typeof shownTo>>;

/** The chain as a page can check it by itself. @returns its digests, newest first */
const requireChain = ({ summary, digests, key }: Shown): readonly SignedDigest[] => {
  const chain = digests.match(/.*\n/g)?.map((line) => {
    const digest = readDigest(Buffer.from(line), key);
    if (typeof digest === 'string') throw new Error(`A digest is ${digest}: ${line}`);
    return digest;
  });
  const [newest] = chain ?? [];
  requireThat(
    newest !== undefined && summary.newest.file === digestName(newest.from),
    `The newest digest is not ${JSON.stringify(summary.newest)}`,
  );
  const isLinked = chain?.every(({ previous }, at) => previous?.sha256 === chain[at + 1]?.sha256);
  requireThat(isLinked === true, `No chain: ${digests}`);
  return chain ?? [];
};

const sealInTwoRuns = async (deployment: Deployment, admin: Admin): Promise<string> => {
  await runWithin(deployment, timeOfOneWindow);
  const first = await shownTo(admin, deployment);
  const { newest, behind } = first.summary;
  requireThat(
    newest.count === Number(sealWindow) && behind > 0,
    `After the first run: ${JSON.stringify(first.summary)}`,
  );
  await runWithin(deployment, timeOfAll);
  const chain = requireChain(await shownTo(admin, deployment));
  const counts = chain.map(({ entries }) => entries.count).reverse();
  // Entries of one millisecond, as the acceptance tests may leave, make a window smaller.
  const ofPast = counts.slice(0, pastEntries / Number(sealWindow));
  const full = ofPast.every((count) => count === Number(sealWindow));
  const sum = counts.reduce((total, count) => total + count, 0);
  requireThat(full && sum > pastEntries, `Entries of the windows: ${counts.join(', ')}`);
  return `windows of ${counts.join(', ')} entries`;
};

/** Seals what was recorded before there was a seal, and verifies it. */
export const rehearsePast = async (deployment: Deployment, admin: Admin): Promise<void> => {
  await step(`Write ${pastEntries} audit entries of the past`, () => writePast(deployment));
  await step(
    'Seal them in two runs, and check the chain that admins are shown',
    () => sealInTwoRuns(deployment, admin),
    String,
  );
  await step('Verify the sealed trail', () => verify(deployment), String);
};

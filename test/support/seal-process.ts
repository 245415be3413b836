/** Run in a process of its own: seals the audit table into a folder, or verifies it. Prints what it took. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { auditEntries, folderArchive, localSigner } from '../../lib/seal/door.ts';
import { sealWindows } from '../../lib/seal/sealer.ts';
import { verifyTrail } from '../../lib/seal/verify.ts';

const [action = '', folder = '', now = '', windowSize = ''] = process.argv.slice(2);
const signer = localSigner(readFileSync(join(folder, 'key.pem'), 'utf8'));
const archive = folderArchive(join(folder, 'archive'));
const trail = { archive, source: auditEntries };

const seal = async () => {
  const sealing = { ...trail, signer, interval: 60, windowSize: Number(windowSize) };
  const newest = await sealWindows(sealing, new Date(now));
  return { until: newest?.until };
};

const verify = async () => {
  const { publicKey } = signer;
  const verification = { ...trail, publicKey, scan: true, now: Date.parse(now) };
  const findings: string[] = [];
  const { windows, entries, unsealed } = await verifyTrail(verification, ({ kind }) =>
    findings.push(kind),
  );
  return { findings: findings.slice(0, 20), windows, entries, unsealed };
};

/** Bytes that are still in use when garbage is collected, which needs --expose-gc: the most of all samples. */
let live = 0;
const timer = setInterval(() => {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  live = Math.max(live, heapUsed + external);
}, 100);

const begun = performance.now();
const outcome = await (action === 'seal' ? seal() : verify());
const milliseconds = performance.now() - begun;
clearInterval(timer);
const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage();
const processor = (userCPUTime + systemCPUTime) / 1000;
console.log(JSON.stringify({ ...outcome, milliseconds, processor, live, resident: maxRSS * 1024 }));

/**
 * Run in a process of its own: seals the audit table into a folder, verifies it, or does a run of the sealer. Prints the
 * time and the memory that this took.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runSealer } from '../../lib/seal/check.ts';
import { folderArchive, localSigner } from '../../lib/seal/folder-archive.ts';
import { type Check, isSigned, readHeader } from '../../lib/seal/header.ts';
import { seal } from '../../lib/seal/sealer.ts';
import { auditEntries } from '../../lib/seal/table.ts';
import { verifyTrail } from '../../lib/seal/verify.ts';

const [action = '', folder = '', now = '', size = '', mark] = process.argv.slice(2);
const signer = localSigner(readFileSync(join(folder, 'key.pem'), 'utf8'));
const archive = folderArchive(join(folder, 'archive'));
const trail = { archive, source: auditEntries };

const sealAll = async () => {
  const { newest } = await seal(
    { ...trail, signer, interval: 60, size: Number(size) },
    new Date(now),
  );
  return { until: newest.until };
};

const verify = async () => {
  const { publicKey } = signer;
  const verification = { ...trail, publicKey, now: Date.parse(now) };
  const findings: string[] = [];
  const { files, entries, waiting } = await verifyTrail(verification, ({ kind }) =>
    findings.push(kind),
  );
  return { findings: findings.slice(0, 20), files, entries, waiting };
};

/** A run that checks `size` lines; with a mark, a check is requested. */
const run = async () => {
  let check: Check | null = null;
  const { publicKey } = signer;
  const shown = {
    read: async () => undefined,
    write: async (line: string) => {
      const header = readHeader(Buffer.from(line), publicKey);
      if (isSigned(header)) check = header.check;
    },
  };
  const asked = { read: async () => mark, remove: async () => true };
  const sealing = { ...trail, signer, interval: 300, checked: Number(size), shown, asked };
  await runSealer(sealing, new Date(now));
  return { check };
};

/** The microseconds of processor time that were used. */
const used = () => {
  const { user, system } = process.cpuUsage();
  return user + system;
};

/**
 * The most bytes that were in use after garbage collection, which --expose-gc allows; and the time of the measurements.
 */
let [live, sampling] = [0, 0];
const timer = setInterval(() => {
  const before = used();
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  live = Math.max(live, heapUsed + external);
  sampling += used() - before;
}, 100);

const begun = performance.now();
const outcome = await ({ seal: sealAll, run }[action] ?? verify)();
const milliseconds = performance.now() - begun;
clearInterval(timer);
const processor = (used() - sampling) / 1000;
const resident = process.resourceUsage().maxRSS * 1024;
console.log(JSON.stringify({ ...outcome, milliseconds, processor, live, resident }));

/** What somebody did to archive or table, beside what the generators of tampering.ts do. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { digestName, entriesName, type SignedDigest, signDigest } from '../../lib/seal/digest.ts';
import { localSigner, makeKey } from '../../lib/seal/folder.ts';
import { hashOf, type Item, sha256 } from '../../lib/seal/line.ts';
import { sealWindows } from '../../lib/seal/sealer.ts';
import { digestsOf, makeTrail, type Trail } from '../support/sealed-trail.ts';
import { type FormatCase, pemOf, withKeys } from './format-cases.ts';
import { sound } from './tampering.ts';

const digests = digestsOf(sound);
const nameOf = ({ from }: SignedDigest) => digestName(from);
const [one, other] = digests.slice(4, 6) as [SignedDigest, SignedDigest];
const [sealed = 0] = [...sound.source.items.keys()].slice(4);

type Change = NonNullable<FormatCase['change']>;
const tampered = (title: string, isIntact: boolean, change: Change): FormatCase => ({
  title,
  isIntact,
  change,
  trail: sound,
});

const edited = (title: string, edit: (text: string) => string) =>
  tampered(`a digest with ${title}`, false, ({ archive: { files } }) => {
    const text = String(files.get(nameOf(one)));
    const changed = edit(text);
    if (changed === text) throw new Error(`Nothing was done: ${title}`);
    files.set(nameOf(one), Buffer.from(changed));
  });

/** The order of the group of Ed25519 (RFC 8032). */
const order = 2n ** 252n + 27_742_317_777_372_353_535_851_937_790_883_648_493n;
const reverse = (hex: string) => Buffer.from(hex, 'hex').reverse().toString('hex');
/** The same signature with the order of the group added to its second half. */
const addOrder = (signature: string): string => {
  const sum = BigInt(`0x${reverse(signature.slice(64))}`) + order;
  return signature.slice(0, 64) + reverse(sum.toString(16).padStart(64, '0'));
};

const withoutDigests = (title: string, isIntact: boolean, from: number, until?: number) =>
  tampered(title, isIntact, ({ archive }) => {
    for (const digest of digests.slice(from, until)) archive.files.delete(nameOf(digest));
  });

const entriesFile = (title: string, change: (files: Map<string, Buffer>, file: Buffer) => void) =>
  tampered(`a file of entries that was ${title}`, false, ({ archive: { files } }) =>
    change(files, files.get(one.entries.file) ?? Buffer.of()),
  );

/** @param change of an item that was sealed */
const item = (title: string, change: (item: Item) => Item) =>
  tampered(`an entry ${title}`, false, ({ source: { items } }) => {
    const changed = change(items.get(sealed) ?? {});
    items.set(typeof changed.id === 'number' ? changed.id : -1, changed);
  });

/** A trail of one entry, sealed an hour ago. */
const ofOne = async (fields: Item): Promise<{ readonly trail: Trail; readonly id: number }> => {
  const hour = 3_600_000;
  const trail = Object.assign(makeTrail(), { signer: sound.signer, now: sound.now - hour });
  const id = trail.add();
  trail.source.items.set(id, { ...trail.source.items.get(id), ...fields });
  trail.now = sound.now;
  await sealWindows(trail, new Date(trail.now));
  return { trail, id };
};
const accented = await ofOne({ details: 'é' });
const expiring = await ofOne({ expires_at: Math.trunc(sound.now / 1000) - 60 });

export const tamperedCases: readonly FormatCase[] = [
  edited('a space more', (text) => text.replace(',', ', ')),
  edited('a line feed more', (text) => `${text}\n`),
  edited('no line feed', (text) => text.trimEnd()),
  edited('CR', (text) => text.replace('\n', '\r\n')),
  edited('its members in another order', (text) =>
    text.replace(/("format":2),("from":"[^"]*")/, '$2,$1'),
  ),
  edited('another count', (text) => text.replace('"count":', '"count":1')),
  edited('a signature in capitals', (text) =>
    text.replace(one.signature, one.signature.toUpperCase()),
  ),
  edited('the order of the group in its signature', (text) =>
    text.replace(one.signature, addOrder(one.signature)),
  ),
  withoutDigests('an archive without its first digest', false, 0, 1),
  withoutDigests('an archive without its first four digests', false, 0, 4),
  // Only who remembers them can tell.
  withoutDigests('an archive without its newest digest', true, -1),
  withoutDigests('an archive without its newest ten digests', true, -10),
  withoutDigests('an archive without digests', false, 0),
  entriesFile('compressed again', (files, file) => {
    files.set(one.entries.file, gzipSync(gunzipSync(file), { level: 0 }));
  }),
  entriesFile('cut, and named by its new hash', (files, file) => {
    const cut = gzipSync(gunzipSync(file).toString().replace(/^.*\n/, ''));
    files.set(entriesName(one.from, sha256(cut).toString('hex')), cut);
    files.delete(one.entries.file);
  }),
  entriesFile('swapped with another', (files, file) => {
    files.set(one.entries.file, files.get(other.entries.file) ?? Buffer.of());
    files.set(other.entries.file, file);
  }),
  entriesFile('renamed', (files, file) => {
    files.set('other.ndjson.gz', file);
    files.delete(one.entries.file);
  }),
  {
    ...tampered('a chain by another key, with that key beside it', false, async ({ archive }) => {
      for (const { signature: _, sha256: __, ...body } of digests) {
        archive.files.set(digestName(body.from), await signDigest(body, localSigner(makeKey())));
      }
    }),
    onDisk: (folder) =>
      writeFileSync(join(folder, 'public-key.pem'), pemOf(localSigner(makeKey()))),
  },
  item('whose user became a text', (before) => ({ ...before, user_id: String(before.user_id) })),
  item('without its time', ({ created_at: _, ...before }) => before),
  item('in a copy with another id', (before) => withKeys({ ...before, id: sealed + 1e6 })),
  item('in a copy whose id is a fraction', (before) => ({ ...before, id: { N: '1.5' } })),
  item('in a copy whose id has 38 digits', (before) => ({ ...before, id: { N: '9'.repeat(38) } })),
  tampered('an entry that was changed and is listed by a replay', false, ({ source }) => {
    const changed = { ...source.items.get(sealed), ip_address: '192.0.2.66' };
    source.items.set(sealed, changed);
    const made = makeTrail();
    const details = { entries: [{ id: sealed, sha256: hashOf(changed) }] };
    const id = made.add({ action: 'CREATE', resource: 'audit-logs', details }, sound.now);
    source.items.set(id, made.source.items.get(id) ?? {});
  }),
  ...['2026-11-22T12:07:31Z', '+275760-09-13T00:00:00.000Z', '2026-02-30T00:00:00.000Z'].map(
    (created_at) =>
      item(`in a copy of ${created_at}`, (before) =>
        withKeys({ ...before, id: sealed + 1e6, created_at }),
      ),
  ),
  tampered('a table without entries', false, ({ source }) => source.items.clear()),
  {
    title: 'an entry with é in two characters',
    isIntact: false,
    trail: accented.trail,
    change: ({ source: { items } }) =>
      void items.set(accented.id, { ...items.get(accented.id), details: 'e\u0301' }),
  },
  { title: 'an entry with é', isIntact: true, trail: accented.trail },
  {
    title: 'an entry that left before its time',
    isIntact: false,
    trail: expiring.trail,
    change: ({ source }) => void source.items.delete(expiring.id),
  },
];

/** Runs the example of lib/seal/README.md as a reader of the document would. */
import { createPublicKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { memberOf } from '../../../lib/seal/archive.ts';
import { memoryArchive, verifyAll } from '../../support/sealed-trail.ts';

const page = readFileSync('lib/seal/README.md', 'utf8');
const [, example = ''] = page.split('\n## Example\n');
const blocks = [...example.matchAll(/^```\n(.*?)\n```$/gms)].map(([, block = '']) => block);

it('The example in the document is, byte by byte, a trail that can be verified', async () => {
  const archive = memoryArchive();
  for (const block of blocks.slice(0, 2)) {
    const [name = '', header = '', base64 = '', ...lines] = block.split('\n');
    const content = Buffer.from(base64, 'base64');
    expect(gunzipSync(content).toString()).toBe(lines.map((line) => `${line}\n`).join(''));
    archive.files.set(name, Buffer.concat([memberOf(`${header}\n`), content]));
  }
  const publicKey = createPublicKey(blocks[2] ?? '');

  const verified = await verifyAll({ archive, publicKey });

  expect(verified).toMatchObject({ findings: [], files: 2, entries: 2 });
});

it('The document has at most 1,500 words', () => {
  expect(page.split(/\s+/).filter(Boolean).length).toBeLessThanOrEqual(1500);
});

/** The worked example of lib/seal/README.md, tried as a reader of the document would. */
import { createHash, createPublicKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { memoryArchive, verifyAll } from '../../support/sealed-trail.ts';

const [, example = ''] = readFileSync('lib/seal/README.md', 'utf8').split('\n## Example\n');
const blocks = [...example.matchAll(/^```\n(.*?)\n```$/gms)].map(([, block = '']) => block);

it('The worked example of the document is a trail that verifies, to the byte', async () => {
  const archive = memoryArchive();
  const lines: string[] = [];
  for (const block of blocks.slice(0, 4)) {
    const [name = '', content = '', ...rest] = block.split('\n');
    const isDigest = name.endsWith('.json');
    const file = isDigest ? Buffer.from(`${content}\n`) : Buffer.from(content, 'base64');
    archive.files.set(name, file);
    if (isDigest) {
      const unsigned = content.replace(/,"signature":"[0-9a-f]{128}"\}$/, '}');
      expect(createHash('sha256').update(unsigned).digest('hex')).toBe(rest[0]);
    } else {
      expect(gunzipSync(file).toString()).toBe(rest.map((line) => `${line}\n`).join(''));
      lines.push(...rest);
    }
  }
  const publicKey = createPublicKey(blocks[4] ?? '');

  const { findings, windows, entries } = await verifyAll({ archive, publicKey });

  const [late] = lines.filter((line) => line.endsWith(',"late":true}'));
  expect(findings).toEqual([{ kind: 'late', subject: String(JSON.parse(late ?? '').id) }]);
  expect([blocks.length, windows, entries, lines.length]).toEqual([5, 2, 3, 3]);
});

import { describe, expect, it } from 'vitest';
import { readLines } from '../../../infra/operator/files.ts';

const text = 'a\n\nbéé\r\n€uro\nlast';

const read = async (bytes: Buffer, chunkSize: number, maxBytes = 100) => {
  const chunks = async function* () {
    for (let at = 0; at < bytes.length; at += chunkSize) yield bytes.subarray(at, at + chunkSize);
  };
  const lines = [];
  for await (const line of readLines(chunks(), { maxBytes })) lines.push(line);
  return lines;
};

describe('readLines', () => {
  it.each([1, 2, 3, 7, 1000])('reads the same lines in chunks of %i bytes', async (chunkSize) => {
    const bytes = Buffer.from(text);

    const lines = await read(bytes, chunkSize);

    expect(lines).toEqual([
      { number: 1, end: 2, text: 'a' },
      { number: 2, end: 3, text: '' },
      { number: 3, end: 10, text: 'béé' },
      { number: 4, end: 17, text: '€uro' },
      { number: 5, end: bytes.length, text: 'last' },
    ]);
  });

  it.each([1, 4, 1000])(
    'reads on after a line that is too long, in chunks of %i bytes',
    async (chunkSize) => {
      const lines = await read(Buffer.from('12345\n123456\n1\n'), chunkSize, 5);

      expect(lines.map(({ text, fault }) => text ?? fault)).toEqual([
        '12345',
        'is longer than 5 bytes',
        '1',
      ]);
    },
  );

  it('says which line is not UTF-8', async () => {
    const lines = await read(Buffer.from('a\n\xff\nb', 'latin1'), 2);

    expect(lines.map(({ text, fault }) => text ?? fault)).toEqual(['a', 'is not valid UTF-8', 'b']);
  });

  it('reads no line from an empty file', async () => {
    expect(await read(Buffer.alloc(0), 1)).toEqual([]);
  });
});

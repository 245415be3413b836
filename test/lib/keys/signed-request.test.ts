import { expect, it } from 'vitest';
import { getDocument } from '../../../lib/keys/signed-request.ts';
import { startLoopback } from '../../support/loopback.ts';

it.each([
  ['1,000,000 bytes is read', 1_000_000, 'read'],
  ['1,000,001 bytes is refused', 1_000_001, 'ResponseTooLong'],
])('A document of %s', async (_, bytes, expected) => {
  const { url, stop } = await startLoopback((_, __, response) =>
    response.end(JSON.stringify('x'.repeat(bytes - 2))),
  );

  const outcome = await getDocument(url).then(
    () => 'read',
    ({ name }: Error) => name,
  );

  await stop();
  expect(outcome).toBe(expected);
});

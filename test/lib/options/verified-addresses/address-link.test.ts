import { afterAll, expect, it, vi } from 'vitest';
import { makeLinkToken } from '../../../../lib/options/links/mailed-link.ts';
import {
  noAddressAwaited,
  verifiedAddress,
} from '../../../../lib/options/verified-addresses/address.ts';
import {
  addressAwaited,
  addressLinkUsed,
  readAddressLink,
} from '../../../../lib/options/verified-addresses/address-link.ts';
import { writeUser } from '../../../../lib/users/write.ts';
import { newUser } from '../../../support/reset-items.ts';

vi.stubEnv('EMAIL_VERIFICATION', 'on');
afterAll(() => void vi.unstubAllEnvs());

it('A link is void once another address is asked for, and stays void when that request is withdrawn', async () => {
  const user = await newUser();
  const token = await makeLinkToken({ kind: 'address', user, email: user.email });
  expect((await readAddressLink(token)).email).toBe(user.email);

  const waiting = await writeUser(user, addressAwaited(user, 'new@example.org'));
  await writeUser(waiting, noAddressAwaited);

  await expect(readAddressLink(token)).rejects.toMatchObject({
    code: 'VERIFICATION_TOKEN_INVALID',
  });
});

it('A link stays valid when its address is asked for again', async () => {
  const email = 'new@example.org';
  const asking = await newUser();
  const user = await writeUser(asking, addressAwaited(asking, email));
  const { pending_id: pendingId } = user;
  const token = await makeLinkToken({ kind: 'address', user, email, pendingId });

  await writeUser(user, addressAwaited(user, email));

  expect((await readAddressLink(token)).email).toBe(email);
});

it('A link that was replaced by a newer one stays void once the newer one is used', async () => {
  const user = await newUser();
  const link = { kind: 'address', user, email: user.email } as const;
  const older = await makeLinkToken(link);
  const newer = await makeLinkToken(link);

  const used = addressLinkUsed(await readAddressLink(newer));
  await writeUser(user, used, { fields: verifiedAddress });

  expect((await readAddressLink(newer)).isUsed).toBe(true);
  await expect(readAddressLink(older)).rejects.toMatchObject({
    code: 'VERIFICATION_TOKEN_INVALID',
  });
});

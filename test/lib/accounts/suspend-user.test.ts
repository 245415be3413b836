import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { liftSuspension, suspendUser } from '../../../lib/accounts/suspend-user.ts';
import { type Link, makeLinkToken, readResetLink } from '../../../lib/options/links/mailed-link.ts';
import { awaitsLink } from '../../../lib/options/verified-addresses/address.ts';
import {
  addressAwaited,
  readAddressLink,
} from '../../../lib/options/verified-addresses/address-link.ts';
import type { StoredUser } from '../../../lib/users/item.ts';
import { readUser } from '../../../lib/users/store.ts';
import { writeUser } from '../../../lib/users/write.ts';
import { useOwnTables } from '../../support/own-tables.ts';
import { insertedUser } from '../../support/stored-user.ts';

beforeAll(async () => {
  vi.stubEnv('EMAIL_VERIFICATION', 'on');
  await useOwnTables();
});
afterAll(() => void vi.unstubAllEnvs());

const source = { ip_address: '192.0.2.1', user_agent: 'test', request_id: 'r' };

it('A user is suspended only once, even where no admin exists', async () => {
  const { id } = await insertedUser();

  await suspendUser(id, id, source);
  const once = await readUser(id);
  await suspendUser(id, id, source);

  expect(once).toMatchObject({ suspended_at: expect.any(String), suspensions: 1 });
  expect(await readUser(id)).toEqual(once);
});

it('The last admin is not suspended', async () => {
  const { id } = await insertedUser({ role: 'admin' });

  await expect(suspendUser(id, id, source)).rejects.toMatchObject({
    code: 'LAST_ADMIN_SUSPENSION',
  });
});

const asksForAnother = (user: StoredUser) =>
  writeUser(user, addressAwaited(user, 'new@example.org'));
const asks = async (user: StoredUser) => user;

type Row = readonly [
  name: string,
  prepare: (user: StoredUser) => Promise<StoredUser>,
  linkOf: (user: StoredUser) => Partial<Link>,
];
const links: readonly Row[] = [
  ['sets a password', asks, () => ({ kind: 'reset' })],
  ['verifies the address', asks, () => ({ kind: 'address' })],
  [
    'gives another address',
    asksForAnother,
    ({ pending_id: pendingId }) => ({ kind: 'address', email: 'new@example.org', pendingId }),
  ],
];

/** Whether a link of a kind is valid. */
const isValid = (kind: Link['kind'], token: string): Promise<boolean> =>
  (kind === 'reset' ? readResetLink(token) : readAddressLink(token)).then(
    () => true,
    () => false,
  );

it.each(links)(
  'A mailed link that %s is void once its user is suspended, and stays void after the suspension is lifted',
  async (...row) => {
    const [, prepare, linkOf] = row;
    const admin = await insertedUser({ role: 'admin' });
    const user = await prepare(await insertedUser());
    const link: Link = { kind: 'reset', user, email: user.email, ...linkOf(user) };
    const token = await makeLinkToken(link);
    const before = await isValid(link.kind, token);

    await suspendUser(user.id, admin.id, source);
    // A link that was requested before the suspension, and whose mail is sent after it.
    const late = await makeLinkToken(link);
    const suspended = await isValid(link.kind, late);
    await liftSuspension(user.id, admin.id, source);
    const lifted = await isValid(link.kind, late);

    expect([before, suspended, lifted]).toEqual([true, false, false]);
    const after = await readUser(user.id);
    expect(awaitsLink(after)).toBe(false);
    const newer = await makeLinkToken({ kind: link.kind, user: after, email: after.email });
    expect(await isValid(link.kind, newer)).toBe(true);
  },
);

import { describe, expect, inject, it } from 'vitest';
import { userItem } from '../../../lib/users/store.ts';
import { nextPage, outcome, readPages, refusal } from '../../support/acceptance.ts';
import { type Account, register, uniqueEmail } from '../../support/client.ts';
import { appoint, promote } from '../../support/examples.ts';
import { makeMachine } from '../../support/machines.ts';
import { mailingServiceForThisFile } from '../../support/mailbox.ts';
import { passkeySettings } from '../../support/passkeys.ts';
import { plantPasskey, registerVerified, setFieldsOf } from '../../support/reset-tokens.ts';
import { storedUser } from '../../support/stored-user.ts';
import { verificationSettings } from '../../support/verification.ts';
import { writeBatches } from '../../support/write-batches.ts';

const service = await mailingServiceForThisFile({
  ...verificationSettings.on,
  ...passkeySettings,
  SECOND_FACTOR: 'optional',
  MACHINES: 'on',
});
const { api, adminToken, environment } = service;
const forbidden = refusal(403, 'Forbidden');

const list = (query: string, token = adminToken) => api('GET', `/api/users?${query}`, { token });
const show = async (id: number) =>
  (await api('GET', `/api/users/${id}`, { token: adminToken })).body;
const invited = async (): Promise<number> => {
  const json = { name: 'n', email: uniqueEmail(), invite: true };
  return (await api('POST', '/api/users', { token: adminToken, json })).body.id;
};
const suspended = async (user: Account): Promise<number> => {
  await api('PUT', `/api/users/${user.id}/suspension`, { token: adminToken });
  return user.id;
};

const [open, ended, unverified] = [await invited(), await invited(), await register(api)];
await setFieldsOf(environment, ended, { invited_until: new Date(0).toISOString() });
const suspendedUser = await suspended(await registerVerified(service));
const auditor = await appoint(api, adminToken, await registerVerified(service));
const suspendedAuditor = await suspended(
  await appoint(api, adminToken, await registerVerified(service)),
);
const plain = await registerVerified(service);
const machine = await makeMachine(api, adminToken, ['users:read']);

describe('GET /api/users with `status` and `auditor`', () => {
  it.each([
    ['status=invited', [open, ended]],
    ['status=invited&order=desc&limit=1', [ended, open]],
    ['status=suspended', [suspendedUser, suspendedAuditor]],
    ['status=unverified', [open, ended, unverified.id]],
    ['auditor=true', [auditor.id, suspendedAuditor]],
    ['status=suspended&auditor=true', [suspendedAuditor]],
    ['status=unverified&search=NEW', [unverified.id]],
    ['auditor=true&email=AUDITOR', [auditor.id]],
    ['status=suspended&email=AUDITOR', []],
    ['status=suspended&role=admin', []],
  ])('answers to ?%s only the users who match all of it', async (filters, expected) => {
    const query = filters.replace('NEW', unverified.email).replace('AUDITOR', auditor.email);
    const found = async () => {
      const pages = await readPages(api, `/api/users?${query}`, { token: adminToken });
      return pages.flatMap(({ answer }) => answer.body.map(({ id }: { id: number }) => id));
    };

    await expect.poll(found).toEqual(expected);
  });

  it('shows until when an invitation is open, or when it ended; other users have none', async () => {
    const [first, second] = (await list('status=invited')).body;

    expect(Date.parse(first.invited_until)).toBeGreaterThan(Date.now());
    expect(Date.parse(second.invited_until)).toBeLessThan(Date.now());
    expect((await list(`email=${plain.email}`)).body[0]).not.toHaveProperty('invited_until');
  });

  it.each(['status=invited', 'status=no', 'auditor=true', 'auditor=no'])(
    'answers 403 to ?%s from callers who are neither admins nor auditors',
    async (query) => {
      expect(outcome(await list(query, plain.token))).toEqual(forbidden);
    },
  );

  it('answers auditors and machines that read users as it answers admins', async () => {
    const query = 'status=suspended&auditor=true';
    const expected = outcome(await list(query));

    expect(outcome(await list(query, auditor.token))).toEqual(expected);
    expect(outcome(await list(query, machine.key))).toEqual(expected);
  });

  it.each([
    ['status=admin', 'status must be one of invited, suspended, unverified'],
    ['status=', 'status must be one of invited, suspended, unverified'],
    ['auditor=false', 'auditor must be one of true'],
  ])('answers 400 to ?%s', async (query, message) => {
    expect(outcome(await list(query))).toEqual(refusal(400, message));
  });

  it.each(['', 'status=suspended', 'auditor=true', 'status=invited&auditor=true'])(
    'answers 400 to a cursor of ?status=invited that is used with ?%s',
    async (other) => {
      const page = await list('status=invited&limit=1');
      const cursor = /cursor=[^&]+/.exec(nextPage(page) ?? '')?.[0];

      expect(outcome(await list(`${other}&${cursor}`))).toEqual(refusal(400, 'cursor is invalid'));
    },
  );
});

describe('GET /api/users?role=admin', () => {
  const admins = async (query = '', token = adminToken) =>
    (await list(`role=admin${query}`, token)).body;
  const newAdmin = async () => promote(api, adminToken, await registerVerified(service));

  it('shows admins and auditors the second factor and the passkeys of each admin as GET of one does', async () => {
    const [withCodes, withPasskey] = [await newAdmin(), await newAdmin()];
    const codes = { factor_secret: 's', recovery_codes: new Set(['a', 'b']) };
    await setFieldsOf(environment, withCodes.id, codes);
    await plantPasskey(environment, withPasskey.id);
    const factorsOf = async ({ id }: Account) => {
      const { second_factor, passkeys } = await show(id);
      return { id, second_factor, passkeys };
    };
    const both = [await factorsOf(withCodes), await factorsOf(withPasskey)] as const;
    const expected = both.map((each) => expect.objectContaining(each));

    for (const token of [adminToken, auditor.token, machine.key]) {
      await expect.poll(() => admins('', token)).toEqual(expect.arrayContaining(expected));
    }
    expect(both[0].second_factor).toEqual({ enabled: true, recovery_codes_left: 2 });
    expect(both[1].passkeys).toHaveLength(1);
    expect(await admins(`&email=${withPasskey.email}`)).toEqual([expected[1]]);
    const others = [await admins('', plain.token), (await list('')).body].flat();
    expect(others.filter((user) => 'second_factor' in user || 'passkeys' in user)).toEqual([]);
  });

  it('has at most 100 admins a page whatever `limit` is, but not for other callers', async () => {
    const items = Array.from({ length: 100 }, (_, i) =>
      userItem(storedUser({ id: 1_000_000 + i, role: 'admin' })),
    );
    await writeBatches(inject('engine'), environment.USERS_TABLE ?? '', items);
    const lengths = async (query: string, token = adminToken) => {
      const pages = await readPages(api, `/api/users?role=admin${query}`, { token });
      return pages.map(({ answer }) => answer.body.length);
    };

    const [all = 0] = await lengths('&limit=1000', plain.token);
    expect(all).toBeGreaterThan(100);
    expect(await lengths('')).toEqual([100, all - 100]);
    expect(await lengths('&limit=1000')).toEqual([100, all - 100]);
    expect(await lengths('&limit=60')).toEqual([60, all - 60]);
  });

  it('leaves out a user who is no longer an admin when the item is read', async () => {
    const item = { ...userItem(storedUser({ id: 2_000_000, role: 'admin' })), role: 'user' };
    await writeBatches(inject('engine'), environment.USERS_TABLE ?? '', [item]);

    const [newest] = await admins('&order=desc&limit=1', plain.token);

    expect(newest).toMatchObject({ id: 2_000_000 });
    expect(await admins('&order=desc&limit=1')).toEqual([]);
  });
});

import { beforeEach, describe, expect, it } from 'vitest';
import { outcome, refusal } from '../support/acceptance.ts';
import { type Account, logIn, makeUser, uniqueEmail } from '../support/client.ts';
import { sessionIn } from '../support/examples.ts';
import { proxiedServiceForThisFile } from '../support/proxied-service.ts';
import { faults, overtake } from '../support/proxy.ts';
import { plantLinkToken } from '../support/reset-tokens.ts';
import { expectSoundTable } from '../support/users-table.ts';
import {
  newAccount,
  sendRegistration,
  verificationSettings,
  verify,
} from '../support/verification.ts';

const { proxy, service, admin } = await proxiedServiceForThisFile({
  ...verificationSettings.on,
  SESSION_DAYS: '90',
});
const { api, environment } = service;

/** A user who has asked for a new address in one of two sessions, and got the link. */
let user: Account & { readonly other: string; readonly fresh: string; readonly link: string };
beforeEach(async () => {
  const made = await makeUser(api, admin);
  const [token, other, fresh] = [await logIn(api, made), await logIn(api, made), uniqueEmail()];
  const asked = { kind: 'address', email: fresh, sessionId: sessionIn({ token }) } as const;
  const link = await plantLinkToken(environment, made.id, asked);
  user = { ...made, token, other, fresh, link };
});

const use = (password = user.password) => verify(api, user.link, password);
const put = (token: string, json: object) => api('PUT', `/api/users/${user.id}`, { token, json });
const setPassword = (token: string) =>
  put(token, { password: 'new', currentPassword: user.password });
const remove = () => api('DELETE', `/api/users/${user.id}`, { token: admin });
const take = (email: string) => sendRegistration(api, newAccount({ email }));
const endOthers = (token: string) => api('DELETE', `/api/users/${user.id}/sessions`, { token });
const opens = async (token: string) => (await api('GET', '/api/profile', { token })).status === 200;

/** The user as stored, and which of the two sessions are open; the table must be sound. */
const standing = async () => {
  await expectSoundTable(service);
  const { body } = await api('GET', `/api/users/${user.id}`, { token: admin });
  return { email: body.email, asking: await opens(user.token), other: await opens(user.other) };
};

const invalid = refusal(400, 'Invalid or expired verification token');
const taken = refusal(409, 'Email already registered');
const wrong = refusal(403, 'Current password is wrong');
const done = [204, undefined] as const;

const requests = {
  'a registration with the address': () => take(user.fresh),
  'a deletion of the user': remove,
  'a change of the password in the session that asked': () => setPassword(user.token),
  'a change of the password in another session': () => setPassword(user.other),
  'a change of the address by an admin': () => put(admin, { email: `by-admin-${user.email}` }),
  'a change of the name': () => put(user.token, { name: 'Ada' }),
  'an end of all other sessions': () => endOthers(user.token),
  'an end of all other sessions in another one': () => endOthers(user.other),
  'an end of all sessions by an admin': () => endOthers(admin),
  'the same link': () => use(),
} as const;
type Name = keyof typeof requests;

/** The address that the user has then; none: there is no user. */
type Address = 'old' | 'new' | 'by admin' | 'none';
const addressOf = (which: Address) =>
  ({ old: user.email, new: user.fresh, 'by admin': `by-admin-${user.email}`, none: undefined })[
    which
  ];

describe('A verification link for another address', () => {
  it.each<[Name, number, ReturnType<typeof refusal>, Address, asking: boolean, other: boolean]>([
    ['a registration with the address', 201, taken, 'old', true, true],
    ['a deletion of the user', 204, invalid, 'none', false, false],
    ['a change of the password in the session that asked', 200, wrong, 'old', true, false],
    ['a change of the password in another session', 200, wrong, 'old', false, true],
    ['a change of the address by an admin', 200, invalid, 'by admin', true, true],
    ['a change of the name', 200, done, 'new', true, false],
    ['an end of all other sessions', 204, done, 'new', true, false],
    ['an end of all other sessions in another one', 204, done, 'new', false, false],
    ['an end of all sessions by an admin', 204, done, 'new', false, false],
    ['the same link', 204, done, 'new', true, false],
  ])('that %s overtakes', async (name, status, expected, address, asking, other) => {
    const [used, first] = await overtake(proxy, 'TransactWriteItems', use, requests[name]);

    expect([first.status, outcome(used)]).toEqual([status, expected]);
    expect(await standing()).toEqual({ email: addressOf(address), asking, other });
  });

  it.each<[Name, number, Address, asking: boolean, other: boolean]>([
    ['a registration with the address', 409, 'new', true, false],
    ['a deletion of the user', 204, 'none', false, false],
    ['a change of the password in the session that asked', 200, 'new', true, false],
    ['a change of the password in another session', 401, 'new', true, false],
    ['a change of the address by an admin', 200, 'by admin', true, false],
    ['an end of all other sessions', 204, 'new', true, false],
    ['an end of all other sessions in another one', 401, 'new', true, false],
  ])('that overtakes %s', async (name, status, address, asking, other) => {
    const isAlone = /password|sessions/.test(name);
    const operation = isAlone ? 'UpdateItem' : 'TransactWriteItems';
    const [late, used] = await overtake(proxy, operation, requests[name], use);

    expect([late.status, outcome(used)]).toEqual([status, done]);
    expect(await standing()).toEqual({ email: addressOf(address), asking, other });
  });

  it('counts once when the response to its write is lost, and repeats its response', async () => {
    proxy.impose({ fault: faults.lose, operation: 'TransactWriteItems', times: 1 });

    const used = await use();

    proxy.impose();
    expect([outcome(used), outcome(await use())]).toEqual([done, done]);
    expect(await standing()).toEqual({ email: user.fresh, asking: true, other: false });
  });
});

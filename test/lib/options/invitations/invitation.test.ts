import { describe, expect, it, vi } from 'vitest';
import {
  hasUnusedInvitation,
  invitationLinkVoided,
  isInvited,
  makeInvitationToken,
  whyNotInvitable,
} from '../../../../lib/options/invitations/invitation.ts';
import {
  makeLinkToken,
  readResetLink,
  resetLink,
} from '../../../../lib/options/links/mailed-link.ts';
import { unmatchableHash } from '../../../../lib/users/user.ts';
import { at, itemOf, newUser, start } from '../../../support/reset-items.ts';
import { setFields, storedUser } from '../../../support/stored-user.ts';

const day = 24 * 60 * 60;
const invitable = async () => {
  const { id } = await newUser();
  return setFields(id, { password_hash: unmatchableHash() });
};
const isValid = (token: string, now: Date) =>
  readResetLink(token, now).then(
    () => true,
    () => false,
  );

describe('The token of an invitation', () => {
  it('is valid for exactly the seven days that the user shows, and its item is kept longer', async () => {
    const user = await invitable();

    const token = await makeInvitationToken(user, at(0));

    expect(await isValid(token, at(7 * day - 1))).toBe(true);
    expect(await isValid(token, at(7 * day))).toBe(false);
    const { user: stored } = await readResetLink(token, at(0));
    expect(stored.invited_until).toBe(at(7 * day).toISOString());
    expect(invitationLinkVoided(stored, at(7 * day))).toEqual({});
    expect(Number((await itemOf(user))?.expires_at)).toBeGreaterThan(
      start.getTime() / 1000 + 7 * day,
    );
  });

  it('is void once the time of the invitation changes, or once a link for a reset is made', async () => {
    const first = await invitable();
    const token = await makeInvitationToken(first, at(0));
    const { user } = await readResetLink(token, at(1));
    await setFields(user.id, invitationLinkVoided(user, at(1)).fields ?? {});
    const second = await invitable();
    const another = await makeInvitationToken(second, at(0));
    const stored = (await readResetLink(another, at(1))).user;
    const reset = await makeLinkToken(resetLink(stored), at(1));

    expect(await isValid(token, at(2))).toBe(false);
    expect(await isValid(another, at(2))).toBe(false);
    expect(await isValid(reset, at(2))).toBe(true);
  });
});

const nobody = storedUser({ id: 1, password_hash: unmatchableHash(4) });
const identity = { id: 'i', issuer: 'https://a', subject: 's', email: null, created_at: '' };
const issuers = '[{"issuer":"https://accounts.google.com","audiences":["app"]}]';
const invited_until = new Date().toISOString();

describe('A user', () => {
  it.each([
    ['has neither password nor identity', nobody, undefined],
    ['has a password', storedUser({ id: 1 }), 'WAY_IN_EXISTS'],
    ['has an identity', { ...nobody, identities: [identity] }, 'WAY_IN_EXISTS'],
    ['is an admin', { ...nobody, role: 'admin' } as const, 'ADMIN_INVITED'],
    ['is suspended', { ...nobody, suspended_at: invited_until }, 'INVITED_SUSPENDED'],
  ])('who %s can be invited, or is refused with the expected code', (...row) => {
    const [, user, code] = row;
    vi.stubEnv('IDENTITY_PROVIDERS', issuers);

    const found = whyNotInvitable(user);
    vi.unstubAllEnvs();

    expect(found).toBe(code);
  });

  it('who has an identity can be invited while the option of identities is off', () => {
    expect(whyNotInvitable({ ...nobody, identities: [identity] })).toBeUndefined();
  });

  it.each([
    ['counts as invited while mails are sent', nobody, true],
    ['counts as invited even while suspended', { ...nobody, suspended_at: invited_until }, true],
    ['does not count as invited with a password', storedUser({ id: 1 }), false],
    ['does not count as invited as an admin', { ...nobody, role: 'admin' } as const, false],
  ])('with an invitation %s', (...row) => {
    const [, user, expected] = row;
    const withoutMails = isInvited({ ...user, invited_until });
    expect(hasUnusedInvitation({ ...user, invited_until })).toBe(expected);
    expect(hasUnusedInvitation(user)).toBe(false);
    vi.stubEnv('MAIL_FROM', 'accounts@example.com');
    vi.stubEnv('RESET_URL', 'https://app.example.com/reset');

    const found = [isInvited({ ...user, invited_until }), isInvited(user)];
    vi.unstubAllEnvs();

    expect([withoutMails, ...found]).toEqual([false, expected, false]);
  });
});

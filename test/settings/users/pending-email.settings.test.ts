import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Account, makeUser, register, uniqueEmail } from '../../support/client.ts';
import { mailingServiceForThisFile } from '../../support/mailbox.ts';
import {
  mailedToken,
  newAccount,
  sendRegistration,
  verificationSettings,
  verify,
} from '../../support/verification.ts';

const service = await mailingServiceForThisFile(verificationSettings.on);
const { api, adminToken } = service;

type Mover = Pick<Account, 'id' | 'token'>;

const move = ({ id, token }: Mover, email: string) =>
  api('PUT', `/api/users/${id}`, { token, json: { email } });
const profileOf = async (token: string) => (await api('GET', '/api/profile', { token })).body.data;

/** The pending address of a user, in each of the responses that show users to a caller. */
const shownTo = async (token: string, { id, email }: Pick<Account, 'id' | 'email'>) => {
  const [one, found, list] = await Promise.all([
    api('GET', `/api/users/${id}`, { token }),
    api('GET', `/api/users?email=${encodeURIComponent(email)}`, { token }),
    api('GET', '/api/users', { token }),
  ]);
  const listed = list.body.find((user: { id: number }) => user.id === id);
  return [one.body, ...found.body, listed].map((user) => user.pending_email);
};

describe('An address that waits for its link', async () => {
  it('is shown to its user and to admins, and to nobody else', async () => {
    const [user, other] = [await register(api), await register(api)];
    const email = uniqueEmail();

    const answer = await move(user, email);

    expect(answer.body).toMatchObject({ email: user.email, pending_email: email });
    expect((await profileOf(user.token)).pending_email).toBe(email);
    for (const token of [user.token, adminToken]) {
      await expect.poll(() => shownTo(token, user)).toEqual([email, email, email]);
    }
    expect(await shownTo(other.token, user)).toEqual([undefined, undefined, undefined]);
  });

  it('is not shown to the creator of the user', async () => {
    const maker = await register(api);
    const made = await makeUser(api, maker.token);
    const { token } = (await api('POST', '/api/login', { json: made })).body;
    await move({ ...made, token }, uniqueEmail());

    const json = { name: 'Ada' };
    const answer = await api('PUT', `/api/users/${made.id}`, { token: maker.token, json });

    expect([answer.status, answer.body.pending_email]).toEqual([200, undefined]);
    expect((await profileOf(token)).pending_email).toBeDefined();
  });

  it('is no longer shown once its link was used, and another pending address is shown in its place', async () => {
    const user = await register(api);
    // A link that is mailed late would replace the link of a new address.
    await mailedToken(service, user.email);
    const [first, second] = [uniqueEmail(), uniqueEmail()];
    await move(user, first);
    const replaced = await mailedToken(service, first);

    await move(user, second);
    const shown = (await profileOf(user.token)).pending_email;
    const late = await verify(api, replaced, user.password);
    const used = await verify(api, await mailedToken(service, second), user.password);

    expect([shown, late.status, used.status]).toEqual([second, 400, 204]);
    expect(await profileOf(user.token)).not.toHaveProperty('pending_email');
    await expect
      .poll(() => shownTo(adminToken, { ...user, email: second }))
      .toEqual([undefined, undefined, undefined]);
  });

  it('is void as soon as another address is asked for, even if the limit of mails is reached', async () => {
    const user = await register(api);
    const emails = Array.from({ length: 6 }, uniqueEmail);
    for (const email of emails.slice(0, 4)) {
      await move(user, email);
      await mailedToken(service, email);
    }
    await move(user, emails[4] ?? '');
    const link = await mailedToken(service, emails[3] ?? '');

    expect((await verify(api, link, user.password)).status).toBe(400);
    expect((await profileOf(user.token)).pending_email).toBe(emails[4]);
  });

  it('is removed, and its link is void, when the user sends the present address', async () => {
    const user = await register(api);
    const email = uniqueEmail();
    await move(user, email);
    const link = await mailedToken(service, email);

    const answer = await move(user, user.email);

    expect([answer.status, answer.body.email]).toEqual([200, user.email]);
    expect(answer.body).not.toHaveProperty('pending_email');
    expect(await profileOf(user.token)).not.toHaveProperty('pending_email');
    expect((await verify(api, link, user.password)).status).toBe(400);
  });

  it('remains when an admin sends the present address of the user', async () => {
    const user = await register(api);
    const email = uniqueEmail();
    await move(user, email);

    const answer = await move({ ...user, token: adminToken }, user.email);

    expect([answer.status, answer.body.pending_email]).toEqual([200, email]);
  });

  it('is no longer shown after the half hour for which its link is valid', async () => {
    const user = await register(api);
    await move(user, uniqueEmail());
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 30 * 60_000 });
    onTestFinished(() => void vi.useRealTimers());

    expect(await profileOf(user.token)).not.toHaveProperty('pending_email');
  });

  const uniform = await mailingServiceForThisFile({
    ...verificationSettings.required,
    ACCOUNTS: 'private',
  });
  it('is shown in the same way whether or not another user has it, where nobody may know that', async () => {
    const [account, holder] = [newAccount(), newAccount()];
    for (const each of [account, holder]) {
      await sendRegistration(uniform.api, each);
      await verify(uniform.api, await mailedToken(uniform, each.email), each.password);
    }
    const { token } = (await uniform.api('POST', '/api/login', { json: account })).body;
    const profile = async () => (await uniform.api('GET', '/api/profile', { token })).body.data;
    const { id } = await profile();
    for (const email of [uniqueEmail(), holder.email]) {
      const answer = await uniform.api('PUT', `/api/users/${id}`, { token, json: { email } });

      expect(answer.body.pending_email).toBe(email);
      expect((await profile()).pending_email).toBe(email);
      const back = await uniform.api('PUT', `/api/users/${id}`, {
        token,
        json: { email: account.email },
      });
      expect([back.status, back.body.pending_email]).toEqual([200, undefined]);
    }
  });
});

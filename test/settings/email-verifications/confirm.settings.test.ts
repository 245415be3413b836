import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { entriesOf, outcome, refusal, stopClock, uniqueAgent } from '../../support/acceptance.ts';
import { type Account, logIn, register, uniqueEmail } from '../../support/client.ts';
import { mailingServiceForThisFile } from '../../support/mailbox.ts';
import { plantLinkToken } from '../../support/reset-tokens.ts';
import { mailedToken, verificationSettings, verify } from '../../support/verification.ts';

const service = await mailingServiceForThisFile({
  ...verificationSettings.on,
  SESSION_DAYS: '90',
  AUDIT_DETAIL: 'full',
});
const { api, adminToken, mailbox } = service;

const invalid = refusal(400, 'Invalid or expired verification token');
const profileOf = async (token: string) => (await api('GET', '/api/profile', { token })).body.data;
const statusesOf = (...tokens: string[]) =>
  Promise.all(tokens.map(async (token) => (await api('GET', '/api/profile', { token })).status));
const newUser = async () => {
  const user = await register(api);
  return { ...user, link: await mailedToken(service, user.email) };
};
const planted = ({ id }: Pick<Account, 'id'>) =>
  plantLinkToken(service.environment, id, { kind: 'address' });
const move = ({ id, token, password }: Account, email: string, fields = {}) =>
  api('PUT', `/api/users/${id}`, { token, json: { email, currentPassword: password, ...fields } });

describe('PUT /api/email-verifications', () => {
  it('verifies a registered address by the mailed link and the password; a repetition changes nothing', async () => {
    const user = await newUser();
    const agent = uniqueAgent();
    const before = await profileOf(user.token);

    const json = { token: user.link, password: user.password };
    const headers = { 'user-agent': agent };
    const answer = await api('PUT', '/api/email-verifications', { json, headers });

    expect([answer.status, answer.text]).toEqual([204, '']);
    expect(before.email_verified).toBe(false);
    expect((await profileOf(user.token)).email_verified).toBe(true);
    const again = await api('PUT', '/api/email-verifications', { json, headers });
    expect([again.status, again.text]).toEqual([204, '']);
    expect(await entriesOf(service, agent)).toEqual([
      expect.objectContaining({
        action: 'UPDATE',
        resource: 'users',
        result: 'SUCCESS',
        user_id: user.id,
        resource_id: String(user.id),
        details: '{"fields":["email_verified"],"by":"verification"}',
      }),
    ]);
  });

  it('repeats its response for the half hour of the link, but only with the right password', async () => {
    const now = Date.now();
    vi.useFakeTimers({ toFake: ['Date'], now });
    onTestFinished(() => void vi.useRealTimers());
    const user = await newUser();
    await verify(api, user.link, user.password);

    const wrong = await verify(api, user.link, 'wrong');
    const again = await verify(api, user.link, user.password);
    vi.setSystemTime(now + 30 * 60_000);
    const late = await verify(api, user.link, user.password);

    expect(outcome(wrong)).toEqual(refusal(403, 'Current password is wrong'));
    expect([again.status, outcome(late)]).toEqual([204, invalid]);
  });

  it.each<[string, (user: Account) => Promise<unknown>]>([
    ['a newer link was mailed', (user) => planted(user)],
    ['the user has another address', (user) => move({ ...user, token: adminToken }, uniqueEmail())],
  ])('does not repeat its response once %s', async (_, change) => {
    const user = await newUser();
    await verify(api, user.link, user.password);
    await change(user);

    expect(outcome(await verify(api, user.link, user.password))).toEqual(invalid);
  });

  it('repeats its response to the link of a new address, if the password is the present one', async () => {
    const user = await newUser();
    const [email, password] = [uniqueEmail(), 'another password'];
    await move(user, email);
    const link = await mailedToken(service, email);
    await verify(api, link, user.password);
    const again = await verify(api, link, user.password);
    await api('PUT', `/api/users/${user.id}`, { token: adminToken, json: { password } });

    expect(again.status).toBe(204);
    expect((await verify(api, link, user.password)).status).toBe(403);
    expect((await verify(api, link, password)).status).toBe(204);
  });

  it('refuses a wrong password, counts it as a failed login, and leaves the link usable', async () => {
    stopClock();
    const user = await newUser();

    for (let i = 0; i < 9; i += 1) {
      const answer = await verify(api, user.link, `wrong ${i}`);
      expect(outcome(answer)).toEqual(refusal(403, 'Current password is wrong'));
    }
    expect((await verify(api, user.link, user.password)).status).toBe(204);
    const other = await newUser();
    for (let i = 0; i < 10; i += 1) await verify(api, other.link, 'wrong');

    expect((await verify(api, other.link, other.password)).status).toBe(429);
    expect((await api('POST', '/api/login', { json: other })).status).toBe(429);
  });

  it('refuses the token of a password reset, and a reset refuses the token of a verification', async () => {
    const user = await newUser();
    const reset = await service.requestToken(user.email);

    const asReset = { token: user.link, password: 'another one' };
    const answer = await api('PUT', '/api/password-resets', { json: asReset });

    expect(outcome(answer)).toEqual(refusal(400, 'Invalid or expired reset token'));
    expect(outcome(await verify(api, reset, user.password))).toEqual(invalid);
  });

  it.each([[{}], [{ token: 'x' }], [{ token: '', password: 'x' }]])(
    'refuses the body %j',
    async (json) => {
      const answer = await api('PUT', '/api/email-verifications', { json });

      expect(outcome(answer)).toEqual(refusal(400, 'Token and password are required'));
    },
  );

  it('A used reset link verifies the address too', async () => {
    const user = await newUser();
    const token = await service.requestToken(user.email);

    const json = { token, password: 'another password' };
    await api('PUT', '/api/password-resets', { json });

    const fresh = await logIn(api, { ...user, password: 'another password' });
    expect((await profileOf(fresh)).email_verified).toBe(true);
  });
});

describe('The change of an address', () => {
  it('takes effect when the link that was mailed to the new address is used', async () => {
    const user = await newUser();
    await verify(api, user.link, user.password);
    const email = uniqueEmail();
    const agent = uniqueAgent();

    const answer = await api('PUT', `/api/users/${user.id}`, {
      token: user.token,
      json: { email, name: 'Ada King', currentPassword: user.password },
      headers: { 'user-agent': agent },
    });
    const link = await mailedToken(service, email);
    const until = await profileOf(user.token);
    const used = await verify(api, link, user.password);

    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
      name: 'Ada King',
      email: user.email,
      email_verified: true,
    });
    expect(until.email).toBe(user.email);
    expect(used.status).toBe(204);
    expect((await api('POST', '/api/login', { json: user })).status).toBe(404);
    const token = await logIn(api, { ...user, email });
    expect(await profileOf(token)).toMatchObject({ email, email_verified: true });
    const notices = await mailbox.mailsTo(user.email, 2);
    expect(notices.at(-1)?.subject).toBe('Your email address was changed');
    const entries = await entriesOf(service, agent);
    expect(entries.map(({ details }) => details)).toContain(
      '{"fields":["name"],"name":{"from":"Some One","to":"Ada King"},"requested":["email"]}',
    );
  });

  it('ends all sessions except the session that asked for the last link', async () => {
    const user = await newUser();
    const [asking, other] = [await logIn(api, user), await logIn(api, user)];
    const [first, second] = [uniqueEmail(), uniqueEmail()];
    await move({ ...user, token: other }, first);
    await mailedToken(service, first);
    await move({ ...user, token: asking }, second);

    await verify(api, await mailedToken(service, second), user.password);

    expect(await statusesOf(user.token, asking, other)).toEqual([401, 200, 401]);
    expect((await profileOf(asking)).email).toBe(second);
  });

  it('frees the old address, and keeps the same address in another letter case', async () => {
    const user = await newUser();
    const upper = user.email.toUpperCase();
    // The service would send no mail so soon after the mail of the registration.
    const asked = { kind: 'address', email: upper } as const;
    const link = await plantLinkToken(service.environment, user.id, asked);

    expect((await verify(api, link, user.password)).status).toBe(204);
    const token = await logIn(api, { ...user, email: upper });
    expect((await profileOf(token)).email).toBe(upper);
    const next = uniqueEmail();
    await move({ ...user, token }, next);
    const moving = await mailedToken(service, next);
    expect((await verify(api, moving, user.password)).status).toBe(204);

    expect((await register(api, { email: user.email })).id).toBeGreaterThan(user.id);
  });

  it('is refused if another user has the new address, also if the address is taken meanwhile', async () => {
    const [user, other] = [await newUser(), await newUser()];
    const email = uniqueEmail();

    const taken = await move(user, other.email);
    await move(user, email);
    const link = await mailedToken(service, email);
    await register(api, { email });

    expect(outcome(taken)).toEqual(refusal(409, 'Email already registered'));
    expect(outcome(await verify(api, link, user.password))).toEqual(
      refusal(409, 'Email already registered'),
    );
    expect((await profileOf(user.token)).email).toBe(user.email);
  });

  it('takes effect at once and is verified when made by an admin; the present address changes nothing', async () => {
    const user = await newUser();
    const email = uniqueEmail();

    const same = await move({ ...user, token: adminToken }, user.email, { name: 'Ada' });
    const moved = await move({ ...user, token: adminToken }, email);

    expect(same.body).toMatchObject({ name: 'Ada', email_verified: false });
    expect(moved.body).toMatchObject({ email, email_verified: true });
    expect(outcome(await verify(api, user.link, user.password))).toEqual(invalid);
  });
});

describe('Without a link, the address is verified', () => {
  it('of users whom an admin creates and of the admin of a start, and of no other users', async () => {
    const { token } = await newUser();
    const create = async (by: string) => {
      const json = { name: 'Grace', email: uniqueEmail(), password: 'a long password' };
      return (await api('POST', '/api/users', { token: by, json })).body.email_verified;
    };

    expect([await create(adminToken), await create(token)]).toEqual([true, false]);
    expect((await profileOf(adminToken)).email_verified).toBe(true);
    const list = await api('GET', '/api/users?order=desc&limit=2', { token: adminToken });
    expect(list.body.map((each: { email_verified: boolean }) => each.email_verified)).toEqual([
      false,
      true,
    ]);
  });
});

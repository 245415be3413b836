import { describe, expect, it } from 'vitest';
import { entriesOf, outcome, refusal, uniqueAgent } from '../support/acceptance.ts';
import { type Account, logIn } from '../support/client.ts';
import { type MailingService, mailingServiceForThisFile } from '../support/mailbox.ts';
import { newPasskey, type Passkey, passkeyClient, passkeySettings } from '../support/passkeys.ts';
import { plantLinkToken, registerVerified } from '../support/reset-tokens.ts';
import { codeOf, enrol } from '../support/second-factor.ts';
import { verificationSettings } from '../support/verification.ts';

const service: MailingService = await mailingServiceForThisFile({
  ...passkeySettings,
  ...verificationSettings.on,
  SECOND_FACTOR: 'admins',
  SELF_DELETION: 'on',
});
const { api, environment } = service;
const { add, list, optionsFor, remove, signIn } = passkeyClient(api);

const required = refusal(403, 'Second factor required');

/** A token of the first admin, with the admin's role because the login was confirmed by a code. */
const first = await (async () => {
  const { email, password } = service.admin;
  const token = await logIn(api, { email, password });
  const { recoveryCodes } = await enrol(api, { password, token });
  return logIn(api, { email, password, code: recoveryCodes[0] });
})();

/** A user whom the first admin has made an admin or an auditor, and who has no factor yet. */
const newChief = async (standing: object = { role: 'admin' }): Promise<Account> => {
  const user = await registerVerified(service);
  await api('PUT', `/api/users/${user.id}`, { token: first, json: standing });
  return { ...user, token: await logIn(api, user) };
};

/** An admin or auditor who has a passkey, and a session that began by it. */
const newHolder = async (standing?: object) => {
  const user = await newChief(standing);
  const { passkey, id: passkeyId } = await add(user);
  return { ...user, passkey, passkeyId, session: (await signIn(passkey)).body.token as string };
};

/** The status of a request that only admins and auditors may send. */
const readsTrail = async (token: string): Promise<number> =>
  (await api('GET', '/api/admin/audit-logs', { token })).status;

const enrolBy = (token: string, password: string) =>
  api('POST', '/api/second-factor', { token, json: { currentPassword: password } });

describe.each([
  ['An admin', { role: 'admin' }],
  ['An auditor', { auditor: true }],
])('%s who needs a second factor', (_, standing) => {
  it('has the role in a session that began by a passkey, for as long as the passkey is there', async () => {
    const { email, password, passkey, passkeyId, session } = await newHolder(standing);
    const byPassword = await logIn(api, { email, password });
    const second = await add({ token: session, password });
    const { token: other, refreshToken } = (await signIn(second.passkey)).body;
    const { token: next } = (await api('POST', '/api/refresh', { json: { refreshToken } })).body;

    const before = [await readsTrail(other), await readsTrail(next), await readsTrail(byPassword)];
    const removed = await remove(other, second.id, { currentPassword: password });

    expect(before).toEqual([200, 200, 401]);
    expect(removed.status).toBe(204);
    expect([await readsTrail(other), await readsTrail(next)]).toEqual([403, 403]);
    expect(await readsTrail((await signIn(passkey)).body.token)).toBe(200);
    expect(passkeyId).toBeDefined();
  });

  it('has no role by the password alone, and such a session neither changes factors nor deletes the user', async () => {
    const { email, password, passkeyId } = await newHolder(standing);
    const token = await logIn(api, { email, password });
    const confirmation = { currentPassword: password };

    const refused = [
      await api('GET', '/api/admin/audit-logs', { token }),
      await enrolBy(token, password),
      await api('PUT', '/api/second-factor', { token, json: { code: '123456' } }),
      await optionsFor(token, confirmation),
      await remove(token, passkeyId, confirmation),
      await api('POST', '/api/account-deletions', { token, json: { currentPassword: 'wrong' } }),
    ];

    expect(refused.map(outcome)).toEqual(refused.map(() => required));
    expect((await list(token)).body.data).toHaveLength(1);
  });

  it('changes factors in a session that began by a passkey, or with a code', async () => {
    const { email, password, passkeyId, session } = await newHolder(standing);

    const { recoveryCodes } = await enrol(api, { password, token: session });
    const [first, second, third] = recoveryCodes;
    const token = await logIn(api, { email, password, code: first });
    const added = await add({ token, password }, newPasskey(), { code: second });
    const removed = await remove(token, passkeyId, { currentPassword: password, code: third });

    expect([added.answer.status, removed.status]).toEqual([201, 204]);
    expect(await readsTrail(token)).toBe(200);
  });

  it('enrols in any session as long as there is no passkey', async () => {
    const { email, password, token } = await newChief(standing);

    const { secret } = await enrol(api, { password, token });

    expect(await readsTrail(token)).toBe(200);
    const login = { email, password, code: codeOf(secret, { ahead: 1 }) };
    expect(await readsTrail(await logIn(api, login))).toBe(200);
  });

  it('is not impersonated by a person who has only the mailbox', async () => {
    const { id, email, passkey } = await newHolder(standing);
    const password = 'a password of the thief';

    const link = await plantLinkToken(environment, id);
    const reset = await api('PUT', '/api/password-resets', { json: { token: link, password } });
    const token = await logIn(api, { email, password });
    const confirmation = { currentPassword: password };
    const passkeys: { id: string }[] = (await list(token)).body.data;
    const tried = [
      await enrolBy(token, password),
      await optionsFor(token, confirmation),
      await remove(token, passkeys[0]?.id ?? '', confirmation),
      await api('GET', '/api/admin/audit-logs', { token }),
      await api('DELETE', `/api/users/${id + 1}`, { token }),
    ];

    expect(reset.status).toBe(204);
    expect(tried.slice(0, 4).map(outcome)).toEqual([required, required, required, required]);
    expect(tried[4]?.status).toBe(403);
    expect(await readsTrail(await logIn(api, { email, password }))).toBe(403);
    expect(await readsTrail((await signIn(passkey)).body.token)).toBe(200);
  });
});

describe('The removal of the factors of another user', () => {
  const removeFactors = (token: string, id: number, headers = {}) =>
    api('DELETE', `/api/users/${id}/second-factor`, { token, headers });

  it('removes passkeys and codes together, and ends all sessions', async () => {
    const agent = uniqueAgent();
    const { id, email, password, passkey, session } = await newHolder();
    await enrol(api, { password, token: session });

    const removed = await removeFactors(first, id, { 'user-agent': agent });
    const again = await removeFactors(first, id);

    expect(removed.status).toBe(204);
    expect(outcome(again)).toEqual(refusal(404, 'Second factor not found'));
    expect((await signIn(passkey)).headers.get('error-code')).toBe('PASSKEY_UNKNOWN');
    expect(await readsTrail(session)).toBe(401);
    expect(await readsTrail(await logIn(api, { email, password }))).toBe(403);
    expect(await entriesOf({ ...service, adminToken: first }, agent)).toMatchObject([
      {
        action: 'UPDATE',
        resource_id: String(id),
        details: JSON.stringify({
          fields: ['second_factor', 'passkeys'],
          second_factor: 'removed',
        }),
      },
    ]);
  });

  it('removes passkeys alone, for an admin whose session began by a passkey', async () => {
    const agent = uniqueAgent();
    const remover = await newHolder();
    const { id, passkey } = await newHolder();
    const byPassword = await newChief();

    const refused = await removeFactors(byPassword.token, id);
    const removed = await removeFactors(remover.session, id, { 'user-agent': agent });

    expect(outcome(refused)).toEqual(required);
    expect(removed.status).toBe(204);
    expect((await signIn(passkey)).status).toBe(401);
    expect(await entriesOf({ ...service, adminToken: first }, agent)).toMatchObject([
      { details: '{"fields":["passkeys"]}' },
    ]);
  });
});

it('A reset by mail removes the passkeys of users', async () => {
  const user = await registerVerified(service);
  const { passkey }: { passkey: Passkey } = await add(user);

  const token = await plantLinkToken(environment, user.id);
  await api('PUT', '/api/password-resets', { json: { token, password: 'another password' } });

  expect((await signIn(passkey)).headers.get('error-code')).toBe('PASSKEY_UNKNOWN');
});

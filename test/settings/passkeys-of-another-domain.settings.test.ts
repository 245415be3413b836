/** The passkeys of a service whose setting PASSKEYS is changed to another domain. */
import { afterAll, describe, expect, it } from 'vitest';
import { outcome, refusal, serviceForThisFile } from '../support/acceptance.ts';
import { type Account, type ApiClient, logIn, register } from '../support/client.ts';
import { newPasskey, passkeyClient, passkeySettings, rpId } from '../support/passkeys.ts';
import { enrol } from '../support/second-factor.ts';
import { startTestService } from '../support/service.ts';

const other = { rpId: 'example.org', origin: 'https://app.example.org' };
const otherDomain = JSON.stringify({ rpId: other.rpId, origins: [other.origin] });

const settings = { ...passkeySettings, SECOND_FACTOR: 'admins', SELF_DELETION: 'on' } as const;
const service = await serviceForThisFile(settings);
const { api: old } = service;
/** The same service after the change. */
const changed = await startTestService({ ...service.environment, PASSKEYS: otherDomain });
afterAll(changed.stop);
const { api: next } = changed;

/** A token of the first admin, with the admin's role because the login was confirmed by a code. */
const first = await (async () => {
  const { email, password } = service.admin;
  const token = await logIn(old, { email, password });
  const { recoveryCodes } = await enrol(old, { password, token });
  return logIn(old, { email, password, code: recoveryCodes[0] });
})();

/** An admin whose only factor is a passkey of the previous domain, with a session that began by it. */
const newAdmin = async () => {
  const user = await register(old);
  await old('PUT', `/api/users/${user.id}`, { token: first, json: { role: 'admin' } });
  const token = await logIn(old, user);
  const { passkey, id: passkeyId, answer } = await passkeyClient(old).add({ ...user, token });
  const session = (await passkeyClient(old).signIn(passkey)).body.token as string;
  return { ...user, passkey, passkeyId, added: answer.body, session };
};

const readsTrail = async (api: ApiClient, token: string): Promise<number> =>
  (await api('GET', '/api/admin/audit-logs', { token })).status;

/** The statuses of an admin's attempts in a session that began by the password alone. */
const begunBy = async (
  api: ApiClient,
  { email, password, passkeyId }: Account & { passkeyId: string },
) => {
  const token = await logIn(api, { email, password });
  const currentPassword = password;
  const { optionsFor, remove } = passkeyClient(api);
  const attempts = {
    enrol: () => api('POST', '/api/second-factor', { token, json: { currentPassword } }),
    add: () => optionsFor(token, { currentPassword }),
    remove: () => remove(token, passkeyId, { currentPassword }),
    delete: () => api('POST', '/api/account-deletions', { token, json: { currentPassword } }),
  };
  const statuses: Record<string, number> = {};
  for (const [name, attempt] of Object.entries(attempts)) statuses[name] = (await attempt()).status;
  return statuses;
};

describe('A passkey of another domain', () => {
  it('locks no admin out: by the password an admin enrols, adds and removes passkeys, and leaves', async () => {
    const admin = await newAdmin();

    const was = await begunBy(old, admin);
    const is = await begunBy(next, admin);

    expect(was).toEqual({ enrol: 403, add: 403, remove: 403, delete: 403 });
    expect(is).toEqual({ enrol: 201, add: 200, remove: 204, delete: 204 });
  });

  it('is no second factor of sessions that it began, until its domain is used again', async () => {
    const { session } = await newAdmin();

    const read = [await readsTrail(old, session), await readsTrail(next, session)];

    expect(read).toEqual([200, 403]);
    expect(await readsTrail(old, session)).toBe(200);
  });

  it('is not removed with the factors of a user who has no other factor', async () => {
    const { id, email, password, session } = await newAdmin();
    const path = `/api/users/${id}/second-factor`;

    const without = await next('DELETE', path, { token: first });
    await enrol(next, { password, token: await logIn(next, { email, password }) });
    const removed = await next('DELETE', path, { token: first });

    expect(outcome(without)).toEqual(refusal(404, 'Second factor not found'));
    expect(removed.status).toBe(204);
    expect(await readsTrail(old, session)).toBe(401);
    const shown = await next('GET', `/api/users/${id}`, { token: first });
    expect(shown.body.passkeys).toHaveLength(1);
  });

  it('is shown with its domain, logs nobody in, and leaves room for ten passkeys of the new domain', async () => {
    const user = await register(old);
    const { password } = user;
    const passkeys = [];
    for (let count = 0; count < 10; count += 1) passkeys.push(await passkeyClient(old).add(user));
    const [one] = passkeys;
    const { add, list, optionsFor, signIn } = passkeyClient(next);

    const options = await optionsFor(user.token, { currentPassword: password });
    const json = { credential: newPasskey().make(options.body, other) };
    const added = await next('POST', '/api/passkeys', { token: user.token, json });
    const login = one && (await signIn(one.passkey, other));
    const refused = await add(user);

    expect(options.body.excludeCredentials).toEqual([]);
    expect(added.body.rp_id).toBe(other.rpId);
    expect(login && outcome(login)).toEqual(refusal(401, 'Invalid passkey'));
    expect(login?.headers.get('error-code')).toBe('LOGIN_PASSKEY_INVALID');
    expect(outcome(refused.answer)).toEqual(refusal(400, 'Invalid passkey'));
    const { body } = await list(user.token);
    expect(body.rp_id).toBe(other.rpId);
    const domains = body.data.map(({ rp_id }: { rp_id: string }) => rp_id);
    expect(domains).toEqual([...Array(10).fill(rpId), other.rpId]);
    const shown = await next('GET', `/api/users/${user.id}`, { token: first });
    expect(shown.body.passkeys[0]).toMatchObject({ rp_id: rpId });
  });
});

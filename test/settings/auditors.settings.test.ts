import { describe, expect, it } from 'vitest';
import {
  entriesOf,
  listUsers,
  outcome,
  refusal,
  serviceForThisFile,
  uniqueAgent,
} from '../support/acceptance.ts';
import { type Account, type ApiClient, logIn, register, uniqueEmail } from '../support/client.ts';
import { appoint, promote } from '../support/examples.ts';
import { enrol } from '../support/second-factor.ts';

const service = await serviceForThisFile({ SESSION_DAYS: '90', SECOND_FACTOR: 'optional' });
const { api, adminToken } = service;
const forbidden = refusal(403, 'Forbidden');

const put = (id: number, token: string, json: object, headers = {}) =>
  api('PUT', `/api/users/${id}`, { token, json, headers });
const trail = (call: ApiClient, token: string) => call('GET', '/api/admin/audit-logs', { token });
const shownTo = async (token: string, id: number) =>
  (await api('GET', `/api/users/${id}`, { token })).body;
const newUser = () => ({ name: 'n', email: uniqueEmail(), password: 'pass-word-1' });
const newAuditor = async (): Promise<Account> => appoint(api, adminToken, await register(api));

describe('An admin who sends `auditor`', () => {
  it('appoints an auditor and revokes that, in open sessions at once, and leaves an entry each time', async () => {
    const user = await register(api);
    const agent = uniqueAgent();
    const set = (auditor: boolean) =>
      put(user.id, adminToken, { auditor }, { 'user-agent': agent });

    expect(outcome(await trail(api, user.token))).toEqual(forbidden);
    expect((await set(true)).body).toMatchObject({ id: user.id, role: 'user', auditor: true });
    expect((await trail(api, user.token)).status).toBe(200);
    expect((await set(true)).status).toBe(200);
    expect((await set(false)).body).toMatchObject({ auditor: false });
    expect(outcome(await trail(api, user.token))).toEqual(forbidden);
    expect((await api('GET', '/api/profile', { token: user.token })).status).toBe(200);

    const details = (await entriesOf(service, agent)).map((entry) => entry.details);
    expect(details).toEqual([
      '{"fields":["auditor"],"auditor":{"from":false,"to":true}}',
      '{"fields":["auditor"]}',
      '{"fields":["auditor"],"auditor":{"from":true,"to":false}}',
    ]);
  });

  it.each([7, 'true', null, {}])(
    'with the value %o is told that it is no boolean',
    async (auditor) => {
      const { id } = await register(api);

      expect(outcome(await put(id, adminToken, { auditor }))).toEqual(
        refusal(400, 'auditor must be true or false'),
      );
      const accept = 'application/problem+json';
      expect((await put(id, adminToken, { auditor }, { accept })).body).toMatchObject({
        errors: [
          { pointer: '#/auditor', code: 'WRONG_TYPE', detail: 'auditor must be true or false' },
        ],
      });
    },
  );

  it('makes an admin an auditor too, and the user stays an auditor without the role of an admin', async () => {
    const admin = await promote(api, adminToken, await register(api));

    await put(admin.id, admin.token, { auditor: true });
    await put(admin.id, adminToken, { role: 'user' });

    const token = await logIn(api, admin);
    expect((await trail(api, token)).status).toBe(200);
    expect(outcome(await api('DELETE', '/api/users/1', { token }))).toEqual(forbidden);
  });
});

describe('Whether a user is an auditor', () => {
  it('is shown to admins, to auditors and to the user, by every response with a user', async () => {
    const [auditor, user] = [await newAuditor(), await register(api)];

    for (const token of [adminToken, auditor.token]) {
      expect(await listUsers(api, token)).toEqual(
        expect.arrayContaining([
          expect.objectContaining({ id: auditor.id, auditor: true }),
          expect.objectContaining({ id: user.id, auditor: false }),
        ]),
      );
    }
    expect(await shownTo(user.token, auditor.id)).not.toHaveProperty('auditor');
    expect((await listUsers(api, user.token)).filter((each) => 'auditor' in each)).toEqual([
      expect.objectContaining({ id: user.id, auditor: false }),
    ]);
    const profile = await api('GET', '/api/profile', { token: auditor.token });
    expect(profile.body.data).toMatchObject({ auditor: true });
  });

  it('cannot be chosen in a registration or at the creation of a user', async () => {
    const json = () => ({ ...newUser(), auditor: true });
    const created = await api('POST', '/api/users', { token: adminToken, json: json() });
    const { token } = (await api('POST', '/api/auth/register', { json: json() })).body;

    expect(created.body).toMatchObject({ auditor: false });
    expect((await api('GET', '/api/profile', { token })).body.data.auditor).toBe(false);
  });
});

describe('An auditor', async () => {
  it('sees of a user everything that an admin sees except the sessions', async () => {
    const [auditor, user] = [await newAuditor(), await register(api)];
    await enrol(api, user);
    await api('PUT', `/api/users/${user.id}/suspension`, { token: adminToken });

    const seen = await shownTo(auditor.token, user.id);

    expect(seen).toEqual(await shownTo(adminToken, user.id));
    expect(seen).toMatchObject({
      second_factor: { enabled: true },
      suspended_at: expect.any(String),
    });
    const { token } = auditor;
    const found = await api('GET', `/api/users?search=${user.email}`, { token });
    expect(found.body).toMatchObject([{ id: user.id, suspended_at: seen.suspended_at }]);
    const sessions = await api('GET', `/api/users/${user.id}/sessions`, { token });
    expect(outcome(sessions)).toEqual(forbidden);
  });

  const closed = await serviceForThisFile({ SESSION_DAYS: '90', ACCOUNTS: 'private' });
  it('sees everybody where accounts are private', async () => {
    const call = closed.api;
    const [one, other] = [await register(call), await register(call)];
    const { token } = await appoint(call, closed.adminToken, one);

    const ids = (await listUsers(call, token)).map(({ id }) => id);

    expect(ids).toEqual([1, one.id, other.id]);
    const byEmail = await call('GET', `/api/users?email=${other.email}`, { token });
    expect(byEmail.body).toMatchObject([{ id: other.id, auditor: false }]);
    expect((await call('GET', `/api/users/${other.id}`, { token })).status).toBe(200);
    expect((await call('GET', '/api/users/999999', { token })).status).toBe(404);
  });

  const strict = await serviceForThisFile({ SESSION_DAYS: '90', SECOND_FACTOR: 'admins' });
  it('needs a second factor where admins need one', async () => {
    const call = strict.api;
    await enrol(call, { ...strict.admin, token: strict.adminToken });
    const auditor = await register(call);
    // Enrolling does not end the session in which it is done.
    await appoint(call, strict.adminToken, auditor);
    const { id, token } = auditor;
    const required = refusal(403, 'Second factor required');

    expect(outcome(await trail(call, token))).toEqual(required);
    expect(outcome(await call('GET', '/api/users?search=a', { token }))).toEqual(required);
    expect((await call('GET', '/api/users/1', { token })).body).not.toHaveProperty('auditor');
    const kept = await call('PUT', `/api/users/${id}`, { token, json: { auditor: true } });
    expect(kept.body).toMatchObject({ auditor: true });
    await enrol(call, auditor);
    expect((await trail(call, token)).status).toBe(200);
    expect((await call('GET', '/api/users/1', { token })).body).toMatchObject({ auditor: false });
  });

  const { USERS_TABLE = '', AUDIT_TABLE = '' } = service.environment;
  const without = await serviceForThisFile({ USERS_TABLE, AUDIT_TABLE });
  it('is an ordinary user where there are no sessions, and `auditor` is an unknown field', async () => {
    const auditor = await newAuditor();
    const token = await logIn(without.api, auditor);
    const send = (json: object) =>
      without.api('PUT', `/api/users/${auditor.id}`, { token: without.adminToken, json });

    expect(outcome(await trail(without.api, token))).toEqual(forbidden);
    expect(outcome(await send({ auditor: false }))).toEqual(refusal(400, 'No fields to update'));
    expect((await send({ name: 'n', auditor: 7 })).body).not.toHaveProperty('auditor');
    expect(await shownTo(adminToken, auditor.id)).toMatchObject({ name: 'n', auditor: true });
  });
});

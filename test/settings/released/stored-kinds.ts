/**
 * The kinds of data that the service stores, with a row for each: how a user stores such data, and what the user later
 * expects of them, from the same version or a newer one.
 */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeJwt } from 'jose';
import { expect } from 'vitest';
import { type AuditEntry, makeEntry } from '../../../lib/audit/entry.ts';
import { entryNotWritten } from '../../../lib/ground/log.ts';
import { nextPage, outcome, readPages, refusal } from '../../support/acceptance.ts';
import { type Account, logIn, makeUser, register, uniqueEmail } from '../../support/client.ts';
import { appoint, promote, sessionIn } from '../../support/examples.ts';
import { newPerson } from '../../support/issuer.ts';
import { newPasskey, passkeyClient } from '../../support/passkeys.ts';
import { codeOf, enrol } from '../../support/second-factor.ts';
import { mailedToken, verify } from '../../support/verification.ts';
import type { Kept } from './service.ts';

interface Row<Known> {
  /** Stores something. @returns what the user knows about it, as JSON */
  store(service: Kept): Promise<Known>;
  /** Finds what was stored, uses it and changes it. */
  find(service: Kept, known: Known): Promise<void>;
}

export const row = <Known>(one: Row<Known>): Row<Known> => one;

type Login = Pick<Account, 'email' | 'password'>;

const password = 'the password before';
const newPassword = 'the password after';

const status = async (answer: ReturnType<Kept['api']>) => (await answer).status;

/** A user whom the admin has created, so that the address is verified. */
const newUser = (service: Kept, fields: Partial<Account> = {}) =>
  makeUser(service.api, service.adminToken, { password, ...fields });

/** The tokens of a login. */
const begin = async (
  { api }: Kept,
  { email, password: given }: Login,
): Promise<{ token: string; refreshToken: string }> => {
  const { body } = await api('POST', '/api/login', { json: { email, password: given } });
  return { token: body.token, refreshToken: body.refreshToken };
};

const newSession = async (service: Kept, fields: Partial<Account> = {}) => {
  const user = await newUser(service, fields);
  return { ...user, ...(await begin(service, user)) };
};

const refresh = ({ api }: Kept, refreshToken: string) =>
  api('POST', '/api/refresh', { json: { refreshToken } });

/** Requires that a user logs in with the stored password, changes it, and then logs in only with the new password. */
const changesPassword = async (service: Kept, user: Login & { id: number }): Promise<void> => {
  const { token } = await begin(service, user);
  const json = { password: newPassword, currentPassword: user.password };
  expect(await status(service.api('PUT', `/api/users/${user.id}`, { token, json }))).toBe(200);
  expect(outcome(await service.api('POST', '/api/login', { json: user }))).toEqual(
    refusal(401, 'Invalid credentials'),
  );
  await logIn(service.api, { ...user, password: newPassword });
};

export const shown = async ({ api, adminToken }: Kept, id: number) =>
  (await api('GET', `/api/users/${id}`, { token: adminToken })).body;

export const asAdmin = (
  { api, adminToken }: Kept,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
) => api(method, path, { token: adminToken, headers });

/** Paths of files that a command reads or writes in the data folder. */
export const inFolder = ({ environment }: Kept) => {
  const folder = mkdtempSync(join(environment.DATA_DIR ?? '', 'files-'));
  return (name: string) => join(folder, name);
};

export const entriesAt = async (service: Kept, path: string): Promise<readonly AuditEntry[]> =>
  (await readPages(service.api, path, { token: service.adminToken })).flatMap(
    ({ answer }) => answer.body.data,
  );

export const kept = {
  'a password, an address and a name': row({
    store: (service) => newUser(service, { name: 'Ää 😀', email: 'Ada@Bücher.example' }),
    find: async (service, user) => {
      const taken = { name: 'Eve', email: 'ADA@xn--bcher-kva.example', password };
      expect(outcome(await service.api('POST', '/api/auth/register', { json: taken }))).toEqual(
        refusal(409, 'Email already registered'),
      );
      await logIn(service.api, { ...user, email: taken.email });
      await changesPassword(service, user);
    },
  }),
  'a password that bcrypt cannot read': row({
    store: (service) => newUser(service, { password: `${'long '.repeat(20)}\0 end` }),
    find: changesPassword,
  }),
  'an admin': row({
    store: async (service) => promote(service.api, service.adminToken, await newSession(service)),
    find: async (service, admin) => {
      const token = await logIn(service.api, admin);
      const path = '/api/admin/audit-logs?limit=1';
      expect(await status(service.api('GET', path, { token }))).toBe(200);
      const admins = await readPages(service.api, '/api/users?role=admin', { token });
      expect(admins.flatMap(({ answer }) => answer.body)).toContainEqual(
        expect.objectContaining({ id: admin.id, role: 'admin' }),
      );
    },
  }),
  'an auditor': row({
    store: async (service) => appoint(service.api, service.adminToken, await newSession(service)),
    find: async (service, { token }) => {
      const path = '/api/admin/audit-logs?limit=1';
      expect(await status(service.api('GET', path, { token }))).toBe(200);
      expect(await status(service.api('DELETE', '/api/users/1', { token }))).toBe(403);
    },
  }),
  'a user whom another user made': row({
    store: async (service) => {
      const maker = await newSession(service);
      return { maker, made: await makeUser(service.api, maker.token, { password }) };
    },
    find: async ({ api }, { maker, made }) => {
      const rename = { token: maker.token, json: { name: 'Made' } };
      expect(await status(api('PUT', `/api/users/${made.id}`, rename))).toBe(200);
      const token = await logIn(api, made);
      expect(await status(api('PUT', `/api/users/${maker.id}`, { ...rename, token }))).toBe(403);
    },
  }),
  'a suspended user': row({
    store: async (service) => {
      const user = await newUser(service);
      expect(await status(asAdmin(service, 'PUT', `/api/users/${user.id}/suspension`))).toBe(204);
      return user;
    },
    find: async (service, user) => {
      expect(outcome(await service.api('POST', '/api/login', { json: user }))).toEqual(
        refusal(403, 'Account suspended'),
      );
      expect(await shown(service, user.id)).toHaveProperty('suspended_at');
      await asAdmin(service, 'DELETE', `/api/users/${user.id}/suspension`);
      await logIn(service.api, user);
    },
  }),
  'sessions that go on, and one that was ended': row({
    store: async (service) => {
      const user = await newUser(service);
      const [one, other, ended] = [
        await begin(service, user),
        await begin(service, user),
        await begin(service, user),
      ];
      const refreshed = (await refresh(service, one.refreshToken)).body;
      const { token, refreshToken } = refreshed;
      await service.api('GET', '/api/profile', { token });
      const path = `/api/users/${user.id}/sessions/${sessionIn(ended)}`;
      expect(await status(service.api('DELETE', path, { token }))).toBe(204);
      return { id: user.id, before: one, newest: { token, refreshToken }, other, ended };
    },
    find: async (service, { id, before, newest, other, ended }) => {
      const path = `/api/users/${id}/sessions`;
      const sessions = (await service.api('GET', path, { token: newest.token })).body.data;
      expect(sessions.map((each: object) => Object.keys(each).length)).toEqual([7, 7]);
      expect(await status(refresh(service, newest.refreshToken))).toBe(200);
      expect(await status(refresh(service, other.refreshToken))).toBe(200);
      expect(await status(refresh(service, ended.refreshToken))).toBe(401);
      // This refresh token was replaced twice already: its use shows that somebody else has it.
      expect(await status(refresh(service, before.refreshToken))).toBe(401);
      expect(await status(service.api('GET', path, { token: newest.token }))).toBe(401);
    },
  }),
  'the day on which a user was last seen': row({
    store: async (service) => {
      const { id } = await newSession(service);
      return { id, last_seen_on: (await shown(service, id)).last_seen_on };
    },
    find: async (service, { id, last_seen_on }) => {
      expect(last_seen_on).toMatch(/^\d{4}-\d\d-\d\d$/);
      expect(await shown(service, id)).toMatchObject({ id, last_seen_on });
      const tomorrow = new Date(Date.parse(last_seen_on) + 86_400_000).toISOString().slice(0, 10);
      const path = `/api/users?seenBefore=${tomorrow}`;
      expect(idsOf((await asAdmin(service, 'GET', path)).body)).toContain(id);
    },
  }),
  'the one session that stays when all others end': row({
    store: async (service) => {
      const user = await newUser(service);
      const [ended, stays] = [await begin(service, user), await begin(service, user)];
      const { token } = stays;
      await service.api('DELETE', `/api/users/${user.id}/sessions`, { token });
      return { ended, stays };
    },
    find: async (service, { ended, stays }) => {
      expect(await status(service.api('GET', '/api/profile', { token: ended.token }))).toBe(401);
      expect(await status(refresh(service, ended.refreshToken))).toBe(401);
      expect(await status(service.api('GET', '/api/profile', { token: stays.token }))).toBe(200);
      expect(await status(refresh(service, stays.refreshToken))).toBe(200);
    },
  }),
  'a second factor with recovery codes': row({
    store: async (service) => {
      const { token: before, refreshToken: _, ...user } = await newSession(service);
      const { secret, recoveryCodes } = await enrol(service.api, { ...user, token: before });
      const [used = '', unused = ''] = recoveryCodes;
      await logIn(service.api, { ...user, code: used });
      return { user, secret, used, unused };
    },
    find: async ({ api }, { user, secret, used, unused }) => {
      const json = { email: user.email, password: user.password };
      expect(outcome(await api('POST', '/api/login', { json }))).toEqual(
        refusal(401, 'Code required'),
      );
      const again = { json: { ...json, code: used } };
      expect(outcome(await api('POST', '/api/login', again))).toEqual(refusal(401, 'Invalid code'));
      const token = await logIn(api, { ...user, code: unused });
      await logIn(api, { ...user, code: codeOf(secret, { ahead: 1 }) });
      expect((await api('GET', '/api/second-factor', { token })).body).toEqual({
        enabled: true,
        recovery_codes_left: 8,
      });
    },
  }),
  'a second factor that is not confirmed': row({
    store: async (service) => {
      const { token, refreshToken: _, ...user } = await newSession(service);
      const json = { currentPassword: user.password };
      const { secret } = (await service.api('POST', '/api/second-factor', { token, json })).body;
      return { token, secret };
    },
    find: async ({ api }, { token, secret }) => {
      const json = { code: codeOf(secret) };
      const { body } = await api('PUT', '/api/second-factor', { token, json });
      expect(body.recoveryCodes).toHaveLength(10);
    },
  }),
  'identities, with a password and without': row({
    store: async (service) => {
      const { token, refreshToken: _, ...user } = await newSession(service);
      const [linked, alone] = [newPerson(), newPerson({ name: 'Alone' })];
      const proof = { currentPassword: user.password };
      expect(await status(service.link(token, linked, proof))).toBe(201);
      expect(await status(service.signIn(alone))).toBe(201);
      return { user, linked, alone };
    },
    find: async (service, { user, linked, alone }) => {
      const one = await service.signIn(linked);
      const list = await service.identitiesOf(one.body.token);
      expect(list).toMatchObject([{ issuer: 'https://issuer.example.com', email: linked.email }]);
      const other = await service.signIn(alone);
      expect([one.status, other.status]).toEqual([200, 200]);
      const path = `/api/users/${user.id}/identities/${list[0].id}`;
      expect(await status(asAdmin(service, 'DELETE', path))).toBe(204);
      // The unlinked identity now claims the address of another account, so that it logs nobody in.
      expect(await service.signIn({ ...linked, email: user.email })).toMatchObject({ status: 409 });
    },
  }),
  'a passkey, and the sessions that it began': row({
    store: async (service) => {
      const { add, signIn } = passkeyClient(service.api);
      const { token, refreshToken: _, ...user } = await newSession(service);
      const { passkey, answer } = await add({ ...user, token }, newPasskey(), { name: 'Kept' });
      expect(answer.status).toBe(201);
      const { refreshToken } = (await signIn(passkey, { counter: 5 })).body;
      return { user, refreshToken, passkey: passkey.known() };
    },
    find: async (service, { user, refreshToken, passkey: known }) => {
      const { add, list, signIn } = passkeyClient(service.api);
      const passkey = newPasskey({ known });
      expect(await status(refresh(service, refreshToken))).toBe(200);
      expect(await status(signIn(passkey, { counter: 5 }))).toBe(401);
      const { token } = (await signIn(passkey, { counter: 6 })).body;
      expect((await list(token)).body).toMatchObject({
        data: [{ name: 'Kept', credential_id: passkey.id }],
        user_handle: known.handle,
      });
      expect(await status(add({ ...user, token }).then(({ answer }) => answer))).toBe(201);
      const json = { password: newPassword };
      await service.api('PUT', `/api/users/${user.id}`, { token: service.adminToken, json });
      expect(outcome(await signIn(passkey, { counter: 7 }))).toEqual(
        refusal(401, 'Invalid passkey'),
      );
    },
  }),
  'a nonce that was used': row({
    store: async (service) => {
      const person = newPerson();
      const proof = await service.proofOf(person);
      expect(await status(service.send(proof))).toBe(201);
      return { person, nonce: proof.nonce };
    },
    find: async (service, { person, nonce }) => {
      const unused = await service.proofOf(person);
      const { idToken } = await service.proofOf({ ...person, nonce });
      expect(await status(service.send({ idToken, nonce }))).toBe(401);
      expect(await status(service.send(unused))).toBe(200);
    },
  }),
  attributes: row({
    store: async (service) => {
      const attributes = { locale: 'de', plan: 'pro' };
      const json = { name: 'N', email: uniqueEmail(), password, attributes };
      const { body } = await service.api('POST', '/api/users', { token: service.adminToken, json });
      return { ...json, id: Number(body.id) };
    },
    find: async (service, { id, email, attributes }) => {
      // An earlier release, to which a service has gone back, may not know the setting.
      const isDeclared = service.environment.USER_ATTRIBUTES !== undefined;
      expect((await shown(service, id)).attributes).toEqual(isDeclared ? attributes : undefined);
      const token = await logIn(service.api, { email, password });
      expect(decodeJwt(token)['attr:plan']).toBe(isDeclared ? 'pro' : undefined);
      const json = { name: 'N', attributes: { locale: null } };
      const { body } = await service.api('PUT', `/api/users/${id}`, { token, json });
      expect(body.attributes).toEqual(isDeclared ? { plan: 'pro' } : undefined);
    },
  }),
  'a link that resets a password': row({
    store: async (service) => {
      const user = await newUser(service);
      await service.api('POST', '/api/password-resets', { json: { email: user.email } });
      return { user, link: await mailedToken(service, user.email) };
    },
    find: async ({ api }, { user, link }) => {
      const json = { token: link, password: newPassword };
      expect(await status(api('PUT', '/api/password-resets', { json }))).toBe(204);
      expect(await status(api('PUT', '/api/password-resets', { json }))).toBe(400);
      await logIn(api, { ...user, password: newPassword });
    },
  }),
  'an invitation': row({
    store: async (service) => {
      const json = { name: 'Invited', email: uniqueEmail(), invite: true };
      const token = service.adminToken;
      const { id } = (await service.api('POST', '/api/users', { token, json })).body;
      return { id, email: json.email, link: await mailedToken(service, json.email) };
    },
    find: async (service, { id, email, link }) => {
      expect(await shown(service, id)).toHaveProperty('invited_until');
      const json = { token: link, password };
      expect(await status(service.api('PUT', '/api/password-resets', { json }))).toBe(204);
      await logIn(service.api, { email, password });
      expect(await shown(service, id)).not.toHaveProperty('invited_until');
    },
  }),
  'links that verify an address, used and not': row({
    store: async (service) => {
      const registered = async () => {
        const { id, email } = await register(service.api, { password });
        return { id, link: await mailedToken(service, email) };
      };
      const [used, unused] = [await registered(), await registered()];
      expect(await status(verify(service.api, used.link, password))).toBe(204);
      return { used, unused };
    },
    find: async (service, { used, unused }) => {
      expect(await shown(service, unused.id)).toMatchObject({ email_verified: false });
      for (const { id, link } of [used, unused]) {
        expect(await status(verify(service.api, link, password))).toBe(204);
        expect(await shown(service, id)).toMatchObject({ email_verified: true });
      }
    },
  }),
  'an address that waits for its link': row({
    store: async (service) => {
      const { token, id } = await newSession(service);
      const email = uniqueEmail();
      const json = { email, currentPassword: password };
      await service.api('PUT', `/api/users/${id}`, { token, json });
      return { id, token, email, link: await mailedToken(service, email) };
    },
    find: async (service, { id, token, email, link }) => {
      expect(await shown(service, id)).toMatchObject({ pending_email: email });
      expect(await status(verify(service.api, link, password))).toBe(204);
      const { body } = await service.api('GET', '/api/profile', { token });
      expect(body.data).toMatchObject({ email, email_verified: true });
      await logIn(service.api, { email, password });
    },
  }),
  'failed logins, one before the limit': row({
    store: async (service) => {
      const user = await newUser(service);
      const json = { ...user, password: 'wrong' };
      for (let login = 1; login < 10; login += 1) await service.api('POST', '/api/login', { json });
      return user;
    },
    find: async ({ api }, user) => {
      const json = { ...user, password: 'wrong' };
      expect(await status(api('POST', '/api/login', { json }))).toBe(401);
      expect(await status(api('POST', '/api/login', { json: user }))).toBe(429);
    },
  }),
  'a user of another system': row({
    store: async (service) => {
      const file = inFolder(service)('import.ndjson');
      // The hash of `the password before`.
      const password_hash = '$2b$04$Poepo6YV0DnFJLqZBVHtXeOf4OXUx2dostHKMkQKNSKZsiOfwaiyu';
      const line = { name: 'Of another', email: uniqueEmail(), password_hash, id: 'x-7' };
      const text = JSON.stringify({ ...line, email_verified: true });
      writeFileSync(file, text);
      expect((await service.operate(['import-users', file])).stdout).toMatch('Imported: 1.');
      return { text, email: line.email };
    },
    find: async (service, { text, email }) => {
      const file = inFolder(service)('import.ndjson');
      writeFileSync(file, text);
      const { stdout } = await service.operate(['import-users', file]);
      expect(stdout).toMatch('Imported: 0. Imported before: 1. Lines rejected: 0.');
      await logIn(service.api, { email, password });
    },
  }),
  'entries of what has gone': row({
    store: async (service) => {
      const [deleted, other] = [await newUser(service), await newSession(service)];
      await asAdmin(service, 'DELETE', `/api/users/${deleted.id}`);
      await service.api('POST', '/api/logout', { token: other.token });
      await service.api('POST', '/api/login', { json: { email: uniqueEmail(), password } });
      const json = { email: uniqueEmail(), name: 'Other', role: 'admin' };
      await service.api('PUT', `/api/users/${other.id}`, { token: service.adminToken, json });
      return { deleted: deleted.id, other: other.id };
    },
    find: async (service, { deleted, other }) => {
      expect(await shown(service, deleted)).toEqual({ message: 'User not found' });
      const actionsOf = async (id: number) =>
        (await entriesAt(service, `/api/admin/audit-logs?about=${id}`)).map(({ action }) => action);
      expect(await actionsOf(deleted)).toEqual(['DELETE', 'CREATE']);
      expect(await actionsOf(other)).toContain('LOGOUT');
    },
  }),
  'that an admin has read the trail within the hour': row({
    store: async (service) => {
      await asAdmin(service, 'GET', '/api/admin/audit-logs?userId=999');
      return '"userId":999';
    },
    find: async (service, filter) => {
      await asAdmin(service, 'GET', '/api/admin/audit-logs?userId=999');
      const reads = await entriesAt(service, '/api/admin/audit-logs?action=READ');
      expect(reads.filter(({ details }) => details?.includes(filter))).toHaveLength(1);
    },
  }),
  'an entry that only the log has': row({
    store: async () => {
      const entry = makeEntry({
        action: 'LOGIN',
        resource: 'users',
        result: 'SUCCESS',
        user_id: 998,
      });
      const logged = { fault: 'TimeoutError', writeId: 'some-write', requestId: 'some-request' };
      return JSON.stringify({ level: 'error', event: entryNotWritten, ...logged, entry });
    },
    find: async (service, line) => {
      const file = inFolder(service)('service.log');
      writeFileSync(file, line);
      const { stdout } = await service.operate(['replay-audit', file]);
      expect(stdout).toMatch('Entries in the table: 1. Other lines: 0. Malformed: 0.');
      expect(await entriesAt(service, '/api/admin/audit-logs?userId=998')).toHaveLength(1);
    },
  }),
  'addresses of further pages': row({
    store: async (service) => {
      const pages = ['/api/users?limit=3', '/api/admin/audit-logs?limit=3&result=SUCCESS'];
      const next = async (page: string) => {
        const path = nextPage(await asAdmin(service, 'GET', page)) ?? '';
        return { path, ids: idsOf((await asAdmin(service, 'GET', path)).body) };
      };
      return Promise.all(pages.map(next));
    },
    find: async (service, pages) => {
      for (const { path, ids } of pages) {
        expect(idsOf((await asAdmin(service, 'GET', path)).body)).toEqual(ids);
      }
    },
  }),
} as const;

export type Listed = readonly { readonly id: number }[];

/** The ids of a list of users, or of entries. */
export const idsOf = (list: Listed | { readonly data: Listed }): readonly number[] =>
  ('data' in list ? list.data : list).map(({ id }) => id);

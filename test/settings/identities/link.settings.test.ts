import { decodeJwt } from 'jose';
import { describe, expect, it } from 'vitest';
import { entriesOf, outcome, refusal, uniqueAgent } from '../../support/acceptance.ts';
import { type Account, logIn, makeUser, register, uniqueEmail } from '../../support/client.ts';
import { identityServiceForThisFile, newPerson, startIssuer } from '../../support/issuer.ts';
import { tokenIn } from '../../support/mailbox.ts';
import { markVerified, plantLinkToken, registerVerified } from '../../support/reset-tokens.ts';
import { codeOf, enrol } from '../../support/second-factor.ts';

const issuer = await startIssuer();
const service = await identityServiceForThisFile(issuer, {
  SELF_DELETION: 'on',
  SECOND_FACTOR: 'optional',
  EMAIL_VERIFICATION: 'on',
  VERIFY_URL: 'https://app.example.com/verify',
});
const { api, adminToken, identitiesOf, link, mailbox, proofOf, signIn } = service;

const invalid = refusal(401, 'Invalid identity token');
const unknown = refusal(404, 'Identity not found');
const lastWay = refusal(409, 'The last way to log in cannot be removed');
const newUser = () => registerVerified(service);
const linkTo = (user: Account, person = newPerson()) =>
  link(user.token, person, { currentPassword: user.password });
const unlink = (token: string, id: string, json: object, headers = {}) =>
  api('POST', `/api/identities/${id}/removals`, { token, json, headers });
/** How many mails with a subject were sent to an address. */
const mailed = (address: string, wanted: string) =>
  mailbox.mails.filter(({ to, subject }) => to.includes(address) && subject === wanted).length;
const statusOf = async (token: string) => (await api('GET', '/api/profile', { token })).status;
const logInAs = ({ email, password }: Pick<Account, 'email' | 'password'>) =>
  api('POST', '/api/login', { json: { email, password } });

/** A user who has an identity and no password. */
const newcomer = async () => {
  const person = newPerson();
  const { token } = (await signIn(person)).body;
  return { person, token, id: Number(decodeJwt(token).id), email: person.email };
};

describe('POST /api/identities', () => {
  it('links an identity after the password is given, and the identity then logs the user in', async () => {
    const [user, person] = [await newUser(), newPerson({ email: 'other@example.org' })];
    const second = await logIn(api, user);
    const agent = uniqueAgent();

    const json = { ...(await proofOf(person)), currentPassword: user.password };
    const headers = { 'user-agent': agent };
    const linked = await api('POST', '/api/identities', { token: user.token, json, headers });

    expect(linked.status).toBe(201);
    expect(linked.body).toMatchObject({ issuer: issuer.url, email: 'other@example.org' });
    expect(await identitiesOf(user.token)).toEqual([linked.body]);
    expect([await statusOf(user.token), await statusOf(second)]).toEqual([200, 401]);
    const { status, body } = await signIn(person);
    expect([status, decodeJwt(body.token).id]).toEqual([200, user.id]);
    expect((await logInAs(user)).status).toBe(200);
    const details = JSON.stringify({ fields: ['identities'], linked: issuer.url });
    expect(await entriesOf(service, agent)).toMatchObject([{ action: 'UPDATE', details }]);
    const subject = 'Your sign-in by another provider was changed';
    expect((await mailbox.mailsTo(user.email, 2)).map((mail) => mail.subject)).toContain(subject);
  });

  it.each([
    [{}, refusal(400, 'Current password is required')],
    [{ currentPassword: 'wrong' }, refusal(403, 'Current password is wrong')],
    [{ idToken: 'x' }, invalid],
    [{ nonce: 'x' }, invalid],
    [{ idToken: '' }, refusal(400, 'ID token and nonce are required')],
    [{ nonce: 7 }, refusal(400, 'ID token and nonce are required')],
  ])('with %j links nothing', async (fields, refused) => {
    const user = await newUser();

    expect(outcome(await link(user.token, newPerson(), fields))).toEqual(refused);
    expect(await identitiesOf(user.token)).toEqual([]);
  });

  it('ends the permission of the user who created this user', async () => {
    const maker = await newUser();
    const made = await makeUser(api, maker.token);
    await markVerified(service.environment, made.id);
    const user = { ...made, token: await logIn(api, made) };
    const change = () =>
      api('PUT', `/api/users/${made.id}`, { token: maker.token, json: { password: 'another' } });

    expect((await change()).status).toBe(200);
    const changed = { ...made, password: 'another' };
    const token = await logIn(api, changed);
    expect((await linkTo({ ...user, ...changed, token })).status).toBe(201);
    expect(outcome(await change())).toEqual(refusal(403, 'Forbidden'));
  });

  it('links no identity to an unverified address, because the address may belong to somebody else', async () => {
    const user = await register(api);

    expect(outcome(await linkTo(user))).toEqual(refusal(403, 'Email is not verified'));
  });

  it('links neither an identity of another user nor an eleventh identity', async () => {
    const [user, other, person] = [await newUser(), await newUser(), newPerson()];

    expect((await linkTo(user, person)).status).toBe(201);
    expect(outcome(await linkTo(other, person))).toEqual(refusal(409, 'Identity already linked'));
    for (let i = 0; i < 9; i += 1) expect((await linkTo(user)).status).toBe(201);
    expect(outcome(await linkTo(user))).toEqual(refusal(400, 'Too many identities'));
  });

  it('uses the nonce up, unless the request is refused', async () => {
    const user = await newUser();
    const proof = await proofOf(newPerson());
    const send = (fields: object) =>
      api('POST', '/api/identities', { token: user.token, json: { ...proof, ...fields } });

    expect((await send({ currentPassword: 'wrong' })).status).toBe(403);
    expect((await send({ currentPassword: user.password })).status).toBe(201);
    expect(outcome(await send({ currentPassword: user.password }))).toEqual(invalid);
  });
});

describe('POST /api/identities/{identity}/removals', () => {
  it('unlinks an identity by the password, frees the identity, and ends the other sessions', async () => {
    const [user, person, agent] = [await newUser(), newPerson(), uniqueAgent()];
    const { id } = (await linkTo(user, person)).body;
    const { token } = (await signIn(person)).body;
    const own = { currentPassword: user.password };

    expect((await unlink(user.token, id, own, { 'user-agent': agent })).status).toBe(204);
    expect([await statusOf(user.token), await statusOf(token)]).toEqual([200, 401]);
    expect(outcome(await unlink(user.token, id, own))).toEqual(unknown);
    expect((await linkTo(await newUser(), person)).status).toBe(201);
    const details = JSON.stringify({ fields: ['identities'], unlinked: issuer.url });
    expect(await entriesOf(service, agent)).toMatchObject([{ action: 'UPDATE', details }]);
  });

  it('needs the code of a second factor too', async () => {
    const user = await newUser();
    const { id } = (await linkTo(user)).body;
    const { secret } = await enrol(api, user);
    const own = { currentPassword: user.password };

    expect(outcome(await unlink(user.token, id, own))).toEqual(refusal(400, 'Code is required'));
    const wrong = await unlink(user.token, id, { ...own, code: 'wrong' });
    expect(outcome(wrong)).toEqual(refusal(403, 'Invalid code'));
    const code = codeOf(secret, { ahead: 1 });
    expect((await unlink(user.token, id, { ...own, code })).status).toBe(204);
  });

  it('unlinks an identity of a user whose address is not verified', async () => {
    const user = await newUser();
    const { id } = (await linkTo(user)).body;
    await markVerified(service.environment, user.id, { email_verified: false });

    expect((await unlink(user.token, id, { currentPassword: user.password })).status).toBe(204);
  });

  it('checks first whether the identity exists, and last whether it is the last way in', async () => {
    const { token, person } = await newcomer();
    const [{ id }] = await identitiesOf(token);

    expect(outcome(await unlink(token, 'nobodys', {}))).toEqual(unknown);
    const required = refusal(400, 'ID token and nonce are required');
    expect(outcome(await unlink(token, id, {}))).toEqual(required);
    expect(outcome(await unlink(token, id, await proofOf(newPerson())))).toEqual(invalid);
    expect(outcome(await unlink(token, id, await proofOf(person)))).toEqual(lastWay);
    expect(await identitiesOf(token)).toHaveLength(1);
  });
});

describe('An admin', () => {
  const unlinkOf = (userId: number, id: string, { token = adminToken, headers = {} } = {}) =>
    api('DELETE', `/api/users/${userId}/identities/${id}`, { token, headers });

  it('unlinks an identity of a user, and ends all sessions', async () => {
    const [user, person, agent] = [await newUser(), newPerson(), uniqueAgent()];
    const { id } = (await linkTo(user, person)).body;
    const linked = 'Your sign-in by another provider was changed';
    await expect.poll(() => mailed(user.email, linked)).toBe(1);

    const headers = { 'user-agent': agent };
    expect((await unlinkOf(user.id, id, { headers })).status).toBe(204);

    expect(await statusOf(user.token)).toBe(401);
    expect(decodeJwt((await signIn(person)).body.token).id).not.toBe(user.id);
    const details = JSON.stringify({ fields: ['identities'], unlinked: issuer.url });
    const { id: by } = decodeJwt(adminToken);
    const entry = { action: 'UPDATE', user_id: by, resource_id: String(user.id), details };
    expect(await entriesOf(service, agent)).toMatchObject([entry]);
    const unlinked = 'Your sign-in by another provider was removed by an admin';
    await expect.poll(() => mailed(user.email, unlinked)).toBe(1);
    expect(outcome(await unlinkOf(user.id, id))).toEqual(unknown);
    // The user has no identity left that would be unlinked when an admin sets a password.
    const password = 'a password of the admin';
    const set = { token: adminToken, json: { password }, headers: { 'user-agent': uniqueAgent() } };
    await api('PUT', `/api/users/${user.id}`, set);
    const [changed] = await entriesOf(service, set.headers['user-agent']);
    expect(changed?.details).toBe(JSON.stringify({ fields: ['password'] }));
  });

  it('unlinks neither an identity of another user, nor the last way in, nor an identity of the admin', async () => {
    const [user, other] = [await newUser(), await newcomer()];
    const { id } = (await linkTo(user)).body;
    const [{ id: last }] = await identitiesOf(other.token);

    expect(outcome(await unlinkOf(other.id, id))).toEqual(unknown);
    expect(outcome(await unlinkOf(other.id, last))).toEqual(lastWay);
    const own = unlinkOf(Number(decodeJwt(adminToken).id), id);
    expect(outcome(await own)).toEqual(refusal(403, 'Forbidden'));
    const byUser = unlinkOf(user.id, id, { token: user.token });
    expect(outcome(await byUser)).toEqual(refusal(403, 'Forbidden'));
    expect([await statusOf(user.token), await statusOf(other.token)]).toEqual([200, 200]);
  });

  it('unlinks every identity of a user by setting a password, and that is recorded and mailed', async () => {
    const [user, person, agent] = [await newUser(), newPerson(), uniqueAgent()];
    await linkTo(user, person);
    await linkTo(user);

    const password = 'a password of the admin';
    const headers = { 'user-agent': agent };
    const json = { name: 'Ada', password };
    const { id } = user;
    const set = await api('PUT', `/api/users/${id}`, { token: adminToken, json, headers });

    expect(set.status).toBe(200);
    expect(decodeJwt((await signIn(person)).body.token).id).not.toBe(user.id);
    expect(await identitiesOf(await logIn(api, { ...user, password }))).toEqual([]);
    const details = JSON.stringify({ fields: ['name', 'password', 'identities'] });
    expect(await entriesOf(service, agent)).toMatchObject([{ action: 'UPDATE', details }]);
    const subject = 'Your password and the sign-in by another provider were changed by an admin';
    await expect.poll(() => mailed(user.email, subject)).toBe(1);
  });
});

describe('GET /api/users/{id}', () => {
  it('shows the identities and the second factor of a user only to admins', async () => {
    const user = await newUser();
    const { body: linked } = await linkTo(user);
    const shown = (token: string) => api('GET', `/api/users/${user.id}`, { token });
    const before = await shown(adminToken);
    await enrol(api, user);
    const after = await shown(adminToken);

    const factor = { enabled: false, recovery_codes_left: 0 };
    expect(before.body).toMatchObject({ id: user.id, identities: [linked] });
    expect(before.body.second_factor).toEqual(factor);
    expect(after.body.second_factor).toEqual({ enabled: true, recovery_codes_left: 10 });
    const { token } = await newUser();
    for (const { body } of [await shown(user.token), await shown(token)]) {
      expect(body).not.toHaveProperty('identities');
      expect(body).not.toHaveProperty('second_factor');
    }
  });
});

describe('A user without a password', () => {
  it('confirms by a fresh ID token of a linked identity, and by no other token', async () => {
    const { token, person, id } = await newcomer();
    const changes = { password: 'a password of her own' };
    const put = (json: object) => api('PUT', `/api/users/${id}`, { token, json });

    const required = refusal(400, 'ID token and nonce are required');
    expect(outcome(await put({ ...changes, currentPassword: '.' }))).toEqual(required);
    expect(outcome(await put({ ...changes, ...(await proofOf(newPerson())) }))).toEqual(invalid);
    const proof = await proofOf(person);
    expect((await put({ ...changes, ...proof })).status).toBe(200);
    expect((await logInAs({ email: person.email, ...changes })).status).toBe(200);
    const again = await put({ ...changes, ...proof });
    expect(outcome(again)).toEqual(refusal(400, 'Current password is required'));
  });

  it('links another identity by the ID token of a linked identity, but only once per token', async () => {
    const { token, person } = await newcomer();
    const { idToken: currentIdToken, nonce: currentNonce } = await proofOf(person);

    expect((await link(token, newPerson(), {})).status).toBe(400);
    const linked = await link(token, newPerson(), { currentIdToken, currentNonce });
    expect(linked.status).toBe(201);
    expect(await identitiesOf(token)).toHaveLength(2);
    const again = await link(token, newPerson(), { currentIdToken, currentNonce });
    expect(outcome(again)).toEqual(invalid);
  });

  it('changes the address by the mailed link and an ID token', async () => {
    const { token, person, id } = await newcomer();
    const email = uniqueEmail();
    const json = { email, ...(await proofOf(person)) };
    expect((await api('PUT', `/api/users/${id}`, { token, json })).status).toBe(200);
    const [mail] = await mailbox.mailsTo(email);
    const confirm = (fields: object) =>
      api('PUT', '/api/email-verifications', {
        json: { token: mail && tokenIn(mail), ...fields },
      });

    expect((await confirm({ password: 'x' })).status).toBe(400);
    expect((await confirm(await proofOf(person))).status).toBe(204);
    expect((await api('GET', '/api/profile', { token })).body.data.email).toBe(email);
  });

  it('has a second factor; when a login asks for its code, the nonce can still be used', async () => {
    const { token, person } = await newcomer();
    const begun = await api('POST', '/api/second-factor', { token, json: await proofOf(person) });
    const { secret } = begun.body;
    await api('PUT', '/api/second-factor', { token, json: { code: codeOf(secret) } });
    const proof = await proofOf(person);

    expect(outcome(await service.send(proof))).toEqual(refusal(401, 'Code required'));
    const wrong = await service.send({ ...proof, code: 'wrong' });
    expect(outcome(wrong)).toEqual(refusal(401, 'Invalid code'));
    const code = codeOf(secret, { ahead: 1 });
    expect((await service.send({ ...proof, code })).status).toBe(200);
    expect(outcome(await service.send({ ...proof, code }))).not.toContain(200);
  });

  it('deletes the account, and the identity then belongs to nobody', async () => {
    const { token, person, id } = await newcomer();
    const leave = (json: object) => api('POST', '/api/account-deletions', { token, json });

    expect((await leave({ currentPassword: 'x' })).status).toBe(400);
    expect((await leave(await proofOf(person))).status).toBe(204);
    const { status, body } = await signIn(person);
    expect(status).toBe(201);
    expect(decodeJwt(body.token).id).toBeGreaterThan(id);
  });

  it('is refused while suspended, like a user with a password', async () => {
    const { person, id } = await newcomer();
    await api('PUT', `/api/users/${id}/suspension`, { token: adminToken });

    expect(outcome(await signIn(person))).toEqual(refusal(403, 'Account suspended'));
  });
});

describe('No access to the account of the other user is given to', () => {
  it('an attacker who registers the address first, and a victim who comes with an identity', async () => {
    const person = newPerson();
    const attacker = await register(api, { email: person.email });

    const taken = await signIn({ ...person, email: person.email.toUpperCase() });

    expect(outcome(taken)).toEqual(refusal(409, 'Email already registered'));
    expect((await linkTo(attacker)).status).toBe(403);
    // The attacker has nevertheless linked an identity, as was possible while addresses were not verified.
    await markVerified(service.environment, attacker.id);
    const own = newPerson();
    expect((await linkTo(attacker, own)).status).toBe(201);
    const token = await plantLinkToken(service.environment, attacker.id);
    const password = 'the victim’s password';
    await api('PUT', '/api/password-resets', { json: { token, password } });
    expect(await statusOf(attacker.token)).toBe(401);
    expect((await logInAs(attacker)).status).toBe(401);
    const elsewhere = await signIn(own);
    expect(decodeJwt(elsewhere.body.token).id).not.toBe(attacker.id);
    const victim = { ...attacker, password, token: await logIn(api, { ...attacker, password }) };
    expect(await identitiesOf(victim.token)).toEqual([]);
    expect((await linkTo(victim, person)).status).toBe(201);
  });

  it.each([true, false, undefined])(
    'an attacker whose issuer claims the address of a victim (email_verified: %j)',
    async (email_verified) => {
      const victim = await newUser();

      const { status } = await signIn(newPerson({ email: victim.email, email_verified }));

      expect(status).toBe(email_verified ? 409 : 403);
      expect(await identitiesOf(victim.token)).toEqual([]);
      expect((await logInAs(victim)).status).toBe(200);
    },
  );
});

it('A user with a password and a second factor links an identity by both; an ID token is not enough', async () => {
  const user = await newUser();
  const { secret } = await enrol(api, user);
  const currentPassword = user.password;

  const proof = await proofOf(newPerson());
  const others = { currentIdToken: proof.idToken, currentNonce: proof.nonce };
  expect((await link(user.token, newPerson(), others)).status).toBe(400);
  expect((await link(user.token, newPerson(), { currentPassword })).status).toBe(400);
  const code = codeOf(secret, { ahead: 1 });
  expect((await link(user.token, newPerson(), { currentPassword, code })).status).toBe(201);
});

it('A user with a password who confirms an address without it is told that it is missing', async () => {
  const { email } = await register(api);
  const [mail] = await mailbox.mailsTo(email);
  const token = mail && tokenIn(mail);
  const headers = { accept: 'application/problem+json' };

  const { body } = await api('PUT', '/api/email-verifications', { json: { token }, headers });

  expect(body).toMatchObject({
    code: 'TOKEN_AND_PASSWORD_REQUIRED',
    errors: [{ pointer: '#/password', code: 'REQUIRED' }],
  });
});

it('A user who sets a new password is told that it was changed, and of no admin', async () => {
  const { id, token, email, password: currentPassword } = await newUser();
  const json = { password: 'another password', currentPassword };

  await api('PUT', `/api/users/${id}`, { token, json });

  const subjects = (await mailbox.mailsTo(email, 2)).map(({ subject }) => subject);
  expect(subjects).toContain('Your password was changed');
});

import { describe, expect, it, onTestFinished } from 'vitest';
import { entriesOf, outcome, refusal, stopClock, uniqueAgent } from '../support/acceptance.ts';
import { logIn, register } from '../support/client.ts';
import { identityServiceForThisFile, newPerson, startIssuer } from '../support/issuer.ts';
import { newPasskey, passkeyClient, passkeySettings, rpId } from '../support/passkeys.ts';
import { markVerified, registerVerified } from '../support/reset-tokens.ts';
import { enrol } from '../support/second-factor.ts';
import { startTestService } from '../support/service.ts';
import { verificationSettings } from '../support/verification.ts';

const service = await identityServiceForThisFile(await startIssuer(), {
  ...passkeySettings,
  ...verificationSettings.on,
  SECOND_FACTOR: 'optional',
});
const { api, adminToken, environment, mailbox } = service;
const { add, list, loginOptions, optionsFor, remove, send, signIn } = passkeyClient(api);

/** A user with a verified address, who may add passkeys. */
const newUser = () => registerVerified(service);

/** A user who has a passkey, with the session that added it. */
const newHolder = async () => {
  const user = await newUser();
  const { passkey, answer } = await add(user);
  return { ...user, passkey, added: answer.body };
};

const profileOf = async (token: string) => (await api('GET', '/api/profile', { token })).status;

describe('A passkey', () => {
  it('is added by the password, and logs its user in without a code', async () => {
    const user = await newUser();

    const { answer, passkey, id } = await add(
      user,
      newPasskey({ isBackedUp: true, transports: ['hybrid', 'usb'] }),
    );
    const login = await signIn(passkey);

    expect(outcome(answer)).toEqual([
      201,
      {
        id: expect.stringMatching(/^[\w-]{16}$/),
        name: 'Passkey',
        created_at: expect.any(String),
        last_used_at: null,
        backed_up: true,
        credential_id: passkey.id,
        rp_id: rpId,
      },
    ]);
    expect(outcome(login)).toEqual([
      200,
      {
        message: 'Login successful',
        token: expect.any(String),
        refreshToken: expect.any(String),
      },
    ]);
    const { body } = await list(login.body.token);
    expect(body).toEqual({
      data: [{ ...answer.body, id, last_used_at: expect.any(String) }],
      user_handle: expect.stringMatching(/^[\w-]{43}$/),
      rp_id: rpId,
    });
  });

  it('of a user with a second factor is added and removed with a code, and logs in without a code', async () => {
    const user = await newUser();
    const { token, password: currentPassword } = user;
    const [code, other] = (await enrol(api, user)).recoveryCodes;

    const without = await optionsFor(token, { currentPassword });
    const { passkey, id } = await add(user, newPasskey(), { code });
    const { body } = await signIn(passkey);
    const removed = await remove(body.token, id, { currentPassword, code: other });

    expect(outcome(without)).toEqual(refusal(400, 'Code is required'));
    expect(removed.status).toBe(204);
    expect(outcome(await signIn(passkey))).toEqual(refusal(401, 'Invalid passkey'));
  });

  it('is created by options that name the user and exclude the existing passkeys', async () => {
    const user = await newUser();
    const { body: nothing } = await list(user.token);

    const first = await optionsFor(user.token, { currentPassword: user.password });
    const { passkey } = await add(user);
    const second = await optionsFor(user.token, { currentPassword: user.password });

    expect(nothing).toEqual({ data: [], user_handle: null, rp_id: rpId });
    expect(first.body).toEqual({
      challenge: expect.any(String),
      timeout: 300_000,
      rp: { id: rpId, name: expect.any(String) },
      user: {
        id: expect.stringMatching(/^[\w-]{43}$/),
        name: user.email,
        displayName: user.name,
      },
      pubKeyCredParams: [-7, -8, -257].map((alg) => ({ type: 'public-key', alg })),
      excludeCredentials: [],
      authenticatorSelection: {
        residentKey: 'required',
        requireResidentKey: true,
        userVerification: 'required',
      },
      attestation: 'none',
    });
    expect(second.body.user).toEqual(first.body.user);
    expect(second.body.excludeCredentials).toEqual([{ type: 'public-key', id: passkey.id }]);
  });

  it('gets another name, and no longer exists once it is removed', async () => {
    const user = await newUser();
    const { passkey, id, answer } = await add(user, newPasskey(), { name: ' Laptop ' });
    const { token, password } = user;
    const rename = (name: unknown, path = id) =>
      api('PATCH', `/api/passkeys/${path}`, { token, json: { name } });

    const renamed = await rename('Telephone');
    const refused = [await rename(''), await rename('x', 'A'.repeat(16))];
    const wrong = await remove(token, id, { currentPassword: 'wrong' });
    const removed = await remove(token, id, { currentPassword: password });
    const again = await remove(token, id, { currentPassword: password });

    expect(answer.body.name).toBe('Laptop');
    expect(outcome(renamed)).toEqual([200, { ...answer.body, name: 'Telephone' }]);
    expect(refused.map(outcome)).toEqual([
      refusal(400, 'name is required'),
      refusal(404, 'Passkey not found'),
    ]);
    expect(outcome(wrong)).toEqual(refusal(403, 'Current password is wrong'));
    expect(removed.status).toBe(204);
    expect(outcome(again)).toEqual(refusal(404, 'Passkey not found'));
    expect((await list(token)).body.data).toEqual([]);
    const unknown = await signIn(passkey);
    expect(outcome(unknown)).toEqual(refusal(401, 'Invalid passkey'));
    expect(unknown.headers.get('error-code')).toBe('PASSKEY_UNKNOWN');
  });

  it('is refused if the address is not verified, and if the user has ten passkeys', async () => {
    const unverified = await register(api);
    const user = await newUser();
    const { token, password: currentPassword } = user;
    for (let count = 0; count < 9; count += 1) await add(user);
    const waiting = (await optionsFor(token, { currentPassword })).body;
    await add(user);

    const late = await api('POST', '/api/passkeys', {
      token,
      json: { credential: newPasskey().make(waiting) },
    });

    expect(
      outcome(await optionsFor(unverified.token, { currentPassword: unverified.password })),
    ).toEqual(refusal(403, 'Email is not verified'));
    expect(outcome(late)).toEqual(refusal(400, 'Too many passkeys'));
    expect(outcome(await optionsFor(token, { currentPassword }))).toEqual(
      refusal(400, 'Too many passkeys'),
    );
  });

  it('has an id of at most 1,023 bytes', async () => {
    const user = await newUser();

    const longest = await add(user, newPasskey({ bytes: 1023 }));
    const longer = await add(user, newPasskey({ bytes: 1024 }));

    expect([longest.answer.status, (await signIn(longest.passkey)).status]).toEqual([201, 200]);
    expect(outcome(longer.answer)).toEqual(refusal(400, 'Invalid passkey'));
  });

  it('belongs to one user, who adds it once', async () => {
    const { passkey, ...holder } = await newHolder();
    const other = await newUser();

    const taken = await add(other, passkey);
    const twice = await add(holder, passkey);

    expect([taken, twice].map(({ answer }) => outcome(answer))).toEqual([
      refusal(409, 'Passkey already registered'),
      refusal(409, 'Passkey already registered'),
    ]);
    expect((await list(other.token)).body.data).toEqual([]);
  });

  it('ends the other sessions, and the permission of the creator of the user, when it is added', async () => {
    const maker = await newUser();
    const made = { email: `made-by-${maker.email}`, password: 'a password', name: 'n' };
    const { body } = await api('POST', '/api/users', { token: maker.token, json: made });
    await markVerified(environment, body.id);
    const [token, other] = [await logIn(api, made), await logIn(api, made)];
    const change = () =>
      api('PUT', `/api/users/${body.id}`, { token: maker.token, json: { name: 'm' } });
    const before = await change();

    const { id } = await add({ ...made, token });

    expect([await profileOf(token), await profileOf(other)]).toEqual([200, 401]);
    expect([before.status, (await change()).status]).toEqual([200, 403]);
    const later = await logIn(api, made);
    await remove(token, id, { currentPassword: made.password });
    expect([await profileOf(token), await profileOf(later)]).toEqual([200, 401]);
  });

  it('is mailed to its user when it is added and removed', async () => {
    const { email, token, password, added } = await newHolder();

    await remove(token, added.id, { currentPassword: password });

    const mails = await mailbox.mailsTo(email, 3);
    expect(mails.map(({ subject }) => subject)).toEqual([
      'Confirm your email address',
      'Your sign-in by passkey was changed',
      'Your sign-in by passkey was changed',
    ]);
  });

  it('of a user without a password is confirmed by an ID token, and does not count as the last way in', async () => {
    const [person, passkey] = [newPerson(), newPasskey()];
    const { token } = (await service.signIn(person)).body;
    const { body: options } = await optionsFor(token, await service.proofOf(person));
    const json = { credential: passkey.make(options) };

    const added = await api('POST', '/api/passkeys', { token, json });
    const [identity] = await service.identitiesOf(token);
    const unlinked = await api('POST', `/api/identities/${identity.id}/removals`, {
      token,
      json: await service.proofOf(person),
    });

    expect(added.status).toBe(201);
    expect(outcome(unlinked)).toEqual(refusal(409, 'The last way to log in cannot be removed'));
    expect((await signIn(passkey)).status).toBe(200);
  });

  it('is shown to admins', async () => {
    const { id, added } = await newHolder();

    const shown = await api('GET', `/api/users/${id}`, { token: adminToken });
    const without = await api('GET', '/api/users/1', { token: adminToken });

    const { id: own, name, created_at } = added;
    expect(shown.body.passkeys).toEqual([{ id: own, name, created_at, rp_id: rpId }]);
    expect(without.body.passkeys).toEqual([]);
  });

  it('leaves entries that contain neither its key nor the id of its credential', async () => {
    const agent = uniqueAgent();
    const headers = { 'user-agent': agent };
    const { id: userId, token, password, added } = await newHolder();
    const path = `/api/passkeys/${added.id}`;

    const { body: options } = await optionsFor(token, { currentPassword: password });
    const json = { credential: newPasskey().make(options) };
    const second = await api('POST', '/api/passkeys', { token, json, headers });
    await api('PATCH', path, { token, json: { name: 'n' }, headers });
    const confirmation = { currentPassword: password };
    await api('POST', `${path}/removals`, { token, json: confirmation, headers });

    const said = [{ added: second.body.id }, { renamed: added.id }, { removed: added.id }];
    expect(await entriesOf(service, agent)).toMatchObject(
      said.map((each) => ({
        action: 'UPDATE',
        result: 'SUCCESS',
        user_id: userId,
        resource_id: String(userId),
        details: JSON.stringify({ fields: ['passkeys'], ...each }),
      })),
    );
  });
});

describe('A challenge', () => {
  it('adds one passkey, only once and only in its session', async () => {
    const user = await newUser();
    const { token, password: currentPassword } = user;
    const { body: options } = await optionsFor(token, { currentPassword });
    const other = await logIn(api, user);
    const addBy = (session: string) =>
      api('POST', '/api/passkeys', {
        token: session,
        json: { credential: newPasskey().make(options) },
      });

    const elsewhere = await addBy(other);
    const side = await Promise.all([addBy(token), addBy(token)]);
    const later = await addBy(token);

    expect(outcome(elsewhere)).toEqual(refusal(400, 'Invalid passkey'));
    expect(side.map(({ status }) => status).sort()).toEqual([201, 400]);
    expect(outcome(later)).toEqual(refusal(400, 'Invalid passkey'));
  });

  it('logs in once, also when it is used in parallel', async () => {
    const { passkey } = await newHolder();
    const credential = passkey.use(await loginOptions());

    const side = await Promise.all([send(credential), send(credential), send(credential)]);
    const later = await send(credential);

    expect(side.map(({ status }) => status).sort()).toEqual([200, 401, 401]);
    expect(outcome(later)).toEqual(refusal(401, 'Invalid passkey'));
    expect(later.headers.get('error-code')).toBe('LOGIN_PASSKEY_INVALID');
  });
});

describe('A login by a passkey', () => {
  it('leaves an entry with the passkey or with the reason of the refusal', async () => {
    const agent = uniqueAgent();
    const headers = { 'user-agent': agent };
    const { id: userId, passkey, added } = await newHolder();
    const { id } = added;

    await signIn(passkey, {}, headers);
    await signIn(passkey, { isVerified: false }, headers);
    await signIn(newPasskey(), { userHandle: 'A' }, headers);
    await signIn(passkey, { counter: 5 }, headers);
    const back = await signIn(passkey, { counter: 5 }, headers);

    expect(outcome(back)).toEqual(refusal(401, 'Invalid passkey'));
    const own = { user_id: userId, resource_id: String(userId) };
    expect(await entriesOf(service, agent)).toMatchObject([
      { ...own, action: 'LOGIN', result: 'SUCCESS', details: JSON.stringify({ passkey: id }) },
      { result: 'FAILURE', user_id: null, details: JSON.stringify({ reason: 'invalid_passkey' }) },
      { result: 'FAILURE', user_id: null, details: JSON.stringify({ reason: 'invalid_passkey' }) },
      { result: 'SUCCESS', details: JSON.stringify({ passkey: id }) },
      {
        ...own,
        result: 'FAILURE',
        details: JSON.stringify({ passkey: id, reason: 'passkey_counter' }),
      },
    ]);
  });

  it('accepts a counter of 0, as some authenticators send, and otherwise only a counter above the last', async () => {
    const { passkey } = await newHolder();
    const counters = [5, 0, 0, 5, 4, 6, 0, 6, 7];

    const statuses = [];
    for (const counter of counters) statuses.push((await signIn(passkey, { counter })).status);

    expect(statuses).toEqual([200, 200, 200, 401, 401, 200, 200, 401, 200]);
  });

  it.each([
    ['is null', { userHandle: null }],
    ['is empty', { userHandle: '' }],
    ['is absent', {}],
  ])('finds its user by the credential where the user handle %s', async (_, changed) => {
    const { passkey } = await newHolder();
    const { response, ...credential } = passkey.use(await loginOptions());
    const { userHandle: __, ...others } = response;

    const login = await send({ ...credential, response: { ...others, ...changed } });

    expect(login.status).toBe(200);
  });

  it('does not wait after wrong passwords of others, and its failures do not count for the account', async () => {
    stopClock();
    const { email, password, passkey } = await newHolder();
    const tried = async (given: string) =>
      (await api('POST', '/api/login', { json: { email, password: given } })).status;
    await signIn(passkey, { counter: 5 });
    for (let count = 0; count < 11; count += 1) await signIn(passkey, { counter: 5 });
    const right = await tried(password);
    const wrong = [];
    for (let count = 0; count < 11; count += 1) wrong.push(await tried('wrong'));

    const login = await signIn(passkey, { counter: 6 });

    expect(right).toBe(200);
    expect(wrong.slice(9)).toEqual([401, 429]);
    expect(login.status).toBe(200);
  });

  it('waits after failed logins from its source address, if those are limited', async () => {
    stopClock();
    const { passkey } = await newHolder();
    const LOGIN_FAILURES_PER_ADDRESS = '3';
    const limited = await startTestService({ ...environment, LOGIN_FAILURES_PER_ADDRESS });
    onTestFinished(limited.stop);
    const { signIn: signInThere } = passkeyClient(limited.api);

    const statuses = [];
    for (const isVerified of [false, false, false, true])
      statuses.push((await signInThere(passkey, { isVerified })).status);

    expect(statuses).toEqual([401, 401, 401, 429]);
  });

  it('forgets the wrong passwords of its account, unless a wait has begun', async () => {
    stopClock();
    const { email, passkey } = await newHolder();
    const tried = async () =>
      (await api('POST', '/api/login', { json: { email, password: 'wrong' } })).status;
    const wrong = [];
    for (let count = 0; count < 9; count += 1) wrong.push(await tried());
    await signIn(passkey);
    for (let count = 0; count < 10; count += 1) wrong.push(await tried());
    await signIn(passkey);

    expect(new Set(wrong)).toEqual(new Set([401]));
    expect(await tried()).toBe(429);
  });

  it('is refused to a suspended user, but the passkey is kept', async () => {
    const { id, passkey } = await newHolder();
    const path = `/api/users/${id}/suspension`;
    await api('PUT', path, { token: adminToken });

    const refused = await signIn(passkey);
    await api('DELETE', path, { token: adminToken });

    expect(outcome(refused)).toEqual(refusal(403, 'Account suspended'));
    expect((await signIn(passkey)).status).toBe(200);
  });

  it.each([
    ['no credential', {}],
    ['a credential that is no object', { credential: 'x' }],
    ['a credential without its response', { credential: { id: 'A', rawId: 'A', type: 'x' } }],
    [
      'an id that no credential has',
      { credential: { ...newPasskey().use({ challenge: 'A' }, { id: 'a b' }) } },
    ],
  ])('is refused if the body has %s', async (_, json) => {
    const answer = await api('POST', '/api/login/passkey', { json });

    expect(outcome(answer)).toEqual(refusal(400, 'Invalid passkey'));
  });
});

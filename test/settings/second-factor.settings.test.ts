import { describe, expect, it } from 'vitest';
import {
  entriesOf,
  isoTimestamp,
  outcome,
  refusal,
  serviceForThisFile,
  stopClock,
  uniqueAgent,
} from '../support/acceptance.ts';
import { logIn, register, uniqueEmail } from '../support/client.ts';
import {
  codeOf,
  enrol,
  factorClient,
  factorSettings,
  registerWithFactor,
} from '../support/second-factor.ts';

const service = await serviceForThisFile(factorSettings);
const { api, adminToken } = service;
const { tryLogin, standing, post, confirm } = factorClient(api);

const none = refusal(404, 'Second factor not found');
const codeRequired = refusal(401, 'Code required');
const invalidCode = refusal(401, 'Invalid code');

describe('An enrolment', () => {
  it('is confirmed by a code of its secret; the response has ten recovery codes, and entries are left', async () => {
    const user = await register(api);
    const agent = uniqueAgent();
    const json = { currentPassword: user.password };
    const begun = await post('', user.token, json, { 'user-agent': agent });
    const { secret, uri } = begun.body;

    const confirmed = await confirm(user.token, codeOf(secret), { 'user-agent': agent });

    expect(begun.status).toBe(201);
    expect(new URL(uri).searchParams.get('secret')).toBe(secret);
    expect(new Set(confirmed.body.recoveryCodes).size).toBe(10);
    const proof = { ...json, code: confirmed.body.recoveryCodes[0] };
    await post('/recovery-codes', user.token, proof, { 'user-agent': agent });
    const entries = await entriesOf(service, agent);
    expect(entries.map(({ action, details }) => [action, details])).toEqual([
      ['UPDATE', '{"fields":["second_factor"],"second_factor":"begun"}'],
      ['UPDATE', '{"fields":["second_factor"],"second_factor":"enabled"}'],
      ['UPDATE', '{"fields":["recovery_codes"]}'],
    ]);
    const { text } = await api('GET', `/api/admin/audit-logs?resourceId=${user.id}`, {
      token: adminToken,
    });
    for (const kept of [secret, ...confirmed.body.recoveryCodes]) expect(text).not.toContain(kept);
  });
});

describe('A login of a user with a second factor', () => {
  it('accepts each recovery code once, as people type it', async () => {
    const { token: _, ...user } = await registerWithFactor(api);
    const [code = '', other = ''] = user.recoveryCodes;

    const token = await logIn(api, { ...user, code: code.toLowerCase().replaceAll('-', ' ') });

    expect(outcome(await tryLogin(user, { code }))).toEqual(invalidCode);
    expect(await standing(token)).toEqual({ enabled: true, recovery_codes_left: 8 });
    expect((await tryLogin(user, { code: other })).status).toBe(200);
  });

  it.each([
    ['no code', {}],
    ['an empty code', { code: '' }],
    ['a number', { code: 123_456 }],
    ['an array', { code: ['123456'] }],
  ])(
    'asks for the code after %s, and that leaves no entry and is not counted',
    async (_, fields) => {
      const user = await registerWithFactor(api);
      const agent = uniqueAgent();

      for (let attempt = 0; attempt < 12; attempt += 1) {
        expect(outcome(await tryLogin(user, fields, { 'user-agent': agent }))).toEqual(
          codeRequired,
        );
      }
      expect(await entriesOf(service, agent)).toEqual([]);
      expect((await tryLogin(user, { code: user.recoveryCodes[0] })).status).toBe(200);
    },
  );

  it('does not mention the code after a wrong password', async () => {
    const user = await registerWithFactor(api);
    const [code] = user.recoveryCodes;

    const answer = await tryLogin({ ...user, password: 'another one' }, { code });

    expect(outcome(answer)).toEqual(refusal(401, 'Invalid credentials'));
    expect((await tryLogin(user, { code })).status).toBe(200);
  });

  it('counts wrong codes like wrong passwords, and records them', async () => {
    stopClock();
    const user = await registerWithFactor(api);
    const agent = uniqueAgent();
    const wrong = () => tryLogin(user, { code: 'wrong' }, { 'user-agent': agent });

    const answers = [];
    for (let attempt = 0; attempt < 10; attempt += 1) answers.push(outcome(await wrong()));

    expect(answers).toEqual(Array(10).fill(invalidCode));
    expect((await wrong()).status).toBe(429);
    expect((await tryLogin(user, { code: user.recoveryCodes[0] })).status).toBe(429);
    expect((await tryLogin(user)).status).toBe(429);
    const entries = await entriesOf(service, agent);
    const failure = { action: 'LOGIN', result: 'FAILURE', user_id: user.id };
    expect(entries).toMatchObject(Array(10).fill(failure));
    // The clock is stopped, and entries of the same time have no order.
    const [last, ...others] = entries.map(({ details }) => String(details)).sort();
    expect(others).toEqual(Array(9).fill('{"reason":"wrong_code"}'));
    expect(JSON.parse(String(last))).toEqual({
      reason: 'wrong_code',
      waits_until: isoTimestamp,
    });
  });

  it('does not forget failures after a right password alone', async () => {
    stopClock();
    const user = await registerWithFactor(api);
    for (let attempt = 0; attempt < 9; attempt += 1) await tryLogin(user, { code: 'wrong' });
    await tryLogin(user);

    expect(outcome(await tryLogin(user, { code: 'wrong' }))).toEqual(invalidCode);
    expect((await tryLogin(user, { code: 'wrong' })).status).toBe(429);
  });

  it('ignores the code of a user without a factor', async () => {
    const user = await register(api);

    expect((await tryLogin(user, { code: 'anything' })).status).toBe(200);
  });
});

it('The deletion of an account with a second factor requires a code', async () => {
  const user = await registerWithFactor(api);
  const leave = (fields: object) =>
    api('POST', '/api/account-deletions', {
      token: user.token,
      json: { currentPassword: user.password, ...fields },
    });

  expect(outcome(await leave({}))).toEqual(refusal(400, 'Code is required'));
  expect(outcome(await leave({ code: 'wrong' }))).toEqual(refusal(403, 'Invalid code'));
  expect((await leave({ code: user.recoveryCodes[0] })).status).toBe(204);
});

describe.each([
  ['codes at /api/account-deletions', 403, { code: 'wrong' }],
  ['codes at /api/second-factor/removals', 403, { code: 'wrong' }],
  ['passwords at /api/second-factor/removals', 403, { currentPassword: 'wrong' }],
  ['codes at /api/login', 401, { code: 'wrong' }],
])('Wrong %s', (name, refused, wrong) => {
  const path = name.replace(/.* /, '');

  it('still count after the address of the user has changed, until a login with a code', async () => {
    stopClock();
    let user = await registerWithFactor(api);
    const guess = async () => {
      const { email, password, token } = user;
      const json = { email, password, currentPassword: password, code: 'wrong', ...wrong };
      return (await api('POST', path, { json, ...(path === '/api/login' ? {} : { token }) }))
        .status;
    };
    const move = async () => {
      const email = uniqueEmail();
      const json = { email, currentPassword: user.password };
      await api('PUT', `/api/users/${user.id}`, { token: user.token, json });
      user = { ...user, email };
    };
    const [code, other] = user.recoveryCodes;

    for (let made = 0; made < 9; made += 1) expect(await guess()).toBe(refused);
    await move();
    user = { ...user, token: await logIn(api, { ...user, code }) };
    for (let made = 0; made < 9; made += 1) expect(await guess()).toBe(refused);
    await move();

    expect([await guess(), await guess()]).toEqual([refused, 429]);
    expect(outcome(await tryLogin(user, { code: other }))).toEqual(
      refusal(429, 'Too many attempts, please try again later'),
    );
  });
});

const withOneAdmin = await serviceForThisFile(factorSettings);
it('The code of a deletion that is refused because the user is the last admin is used up', async () => {
  const { api: call, admin, adminToken: token } = withOneAdmin;
  const { recoveryCodes } = await enrol(call, { ...admin, token });
  const [code] = recoveryCodes;
  const json = { currentPassword: admin.password, code };
  const leave = () => call('POST', '/api/account-deletions', { token, json });

  expect(outcome(await leave())).toEqual(refusal(409, 'The last admin cannot be deleted'));
  expect(outcome(await leave())).toEqual(refusal(403, 'Invalid code'));
  expect(outcome(await factorClient(call).tryLogin(admin, { code }))).toEqual(invalidCode);
});

describe('An admin', () => {
  const remove = (id: number, token: string, headers = {}) =>
    api('DELETE', `/api/users/${id}/second-factor`, { token, headers });
  const makeAdmin = async () => {
    const admin = await registerWithFactor(api);
    await api('PUT', `/api/users/${admin.id}`, { token: adminToken, json: { role: 'admin' } });
    const [code, ...recoveryCodes] = admin.recoveryCodes;
    return { ...admin, recoveryCodes, token: await logIn(api, { ...admin, code }) };
  };

  it('with a second factor removes the factor of another user, and ends the sessions of that user', async () => {
    const [admin, user] = [await makeAdmin(), await registerWithFactor(api)];
    const agent = uniqueAgent();

    expect((await remove(user.id, admin.token, { 'user-agent': agent })).status).toBe(204);

    expect((await api('GET', '/api/profile', { token: user.token })).status).toBe(401);
    expect((await tryLogin(user)).status).toBe(200);
    expect(await entriesOf(service, agent)).toEqual([
      expect.objectContaining({
        action: 'UPDATE',
        user_id: admin.id,
        resource_id: String(user.id),
        details: '{"fields":["second_factor"],"second_factor":"removed"}',
      }),
    ]);
    expect(outcome(await remove(user.id, admin.token))).toEqual(none);
  });
});

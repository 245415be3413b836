import { describe, expect, it } from 'vitest';
import {
  entriesOf,
  isoTimestamp,
  outcome,
  refusal,
  serviceForThisFile,
  uniqueAgent,
} from '../../support/acceptance.ts';
import { logIn, register } from '../../support/client.ts';
import { factorClient, factorSettings, registerWithFactor } from '../../support/second-factor.ts';

const service = await serviceForThisFile(factorSettings);
const { api, adminToken } = service;
const { tryLogin, standing } = factorClient(api);

const codeRequired = refusal(401, 'Code required');
const invalidCode = refusal(401, 'Invalid code');

describe('A login of a user with a second factor', () => {
  it('takes each recovery code once, as people type it', async () => {
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
  ])('asks for the code of %s, which leaves no entry and counts for nothing', async (_, fields) => {
    const user = await registerWithFactor(api);
    const agent = uniqueAgent();

    for (let attempt = 0; attempt < 12; attempt += 1) {
      expect(outcome(await tryLogin(user, fields, { 'user-agent': agent }))).toEqual(codeRequired);
    }
    expect(await entriesOf(service, agent)).toEqual([]);
    expect((await tryLogin(user, { code: user.recoveryCodes[0] })).status).toBe(200);
  });

  it('says nothing of the code to a wrong password', async () => {
    const user = await registerWithFactor(api);
    const [code] = user.recoveryCodes;

    const answer = await tryLogin({ ...user, password: 'another one' }, { code });

    expect(outcome(answer)).toEqual(refusal(401, 'Invalid credentials'));
    expect((await tryLogin(user, { code })).status).toBe(200);
  });

  it('counts wrong codes like wrong passwords, and records them', async () => {
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
    expect(entries.slice(0, 9).map(({ details }) => details)).toEqual(
      Array(9).fill('{"reason":"wrong_code"}'),
    );
    expect(JSON.parse(String(entries[9]?.details))).toEqual({
      reason: 'wrong_code',
      waits_until: isoTimestamp,
    });
  });

  it('does not forget failures for a right password alone', async () => {
    const user = await registerWithFactor(api);
    for (let attempt = 0; attempt < 9; attempt += 1) await tryLogin(user, { code: 'wrong' });
    await tryLogin(user);

    expect(outcome(await tryLogin(user, { code: 'wrong' }))).toEqual(invalidCode);
    expect((await tryLogin(user, { code: 'wrong' })).status).toBe(429);
  });

  it('asks a user who has set a password by an admin too', async () => {
    const user = await registerWithFactor(api);
    const json = { password: 'set by an admin' };
    await api('PUT', `/api/users/${user.id}`, { token: adminToken, json });

    expect(outcome(await tryLogin({ ...user, ...json }))).toEqual(codeRequired);
  });

  it('ignores the code of a user without a factor', async () => {
    const user = await register(api);

    expect((await tryLogin(user, { code: 'anything' })).status).toBe(200);
  });
});

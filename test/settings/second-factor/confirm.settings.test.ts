import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  entriesOf,
  outcome,
  refusal,
  serviceForThisFile,
  uniqueAgent,
} from '../../support/acceptance.ts';
import { logIn, register } from '../../support/client.ts';
import { codeOf, enrol, factorClient, factorSettings } from '../../support/second-factor.ts';

const service = await serviceForThisFile(factorSettings);
const { api, adminToken } = service;
const { tryLogin, post, confirm } = factorClient(api);

const minute = 60_000;
const none = refusal(404, 'Second factor not found');

describe('An enrolment', () => {
  it('is confirmed by a code of its secret, which shows ten recovery codes and leaves entries', async () => {
    const user = await register(api);
    const agent = uniqueAgent();
    const json = { currentPassword: user.password };
    const begun = await post('', user.token, json, { 'user-agent': agent });
    const { secret, uri } = begun.body;

    const confirmed = await confirm(user.token, codeOf(secret), { 'user-agent': agent });

    expect(begun.status).toBe(201);
    expect(new URL(uri).searchParams.get('secret')).toBe(secret);
    expect(new Set(confirmed.body.recoveryCodes).size).toBe(10);
    const entries = await entriesOf(service, agent);
    expect(entries.map(({ action, details }) => [action, details])).toEqual([
      ['UPDATE', '{"fields":["second_factor"],"second_factor":"begun"}'],
      ['UPDATE', '{"fields":["second_factor"],"second_factor":"enabled"}'],
    ]);
    const { text } = await api('GET', `/api/admin/audit-logs?resourceId=${user.id}`, {
      token: adminToken,
    });
    for (const kept of [secret, ...confirmed.body.recoveryCodes]) expect(text).not.toContain(kept);
  });

  it('ends the other sessions of the user, and not the one that asked', async () => {
    const user = await register(api);
    const other = await logIn(api, user);
    await enrol(api, user);

    expect((await api('GET', '/api/profile', { token: user.token })).status).toBe(200);
    expect((await api('GET', '/api/profile', { token: other })).status).toBe(401);
  });

  it('counts wrong first codes like wrong passwords', async () => {
    const user = await register(api);
    const { secret } = (await post('', user.token, { currentPassword: user.password })).body;
    for (let attempt = 0; attempt < 10; attempt += 1) await confirm(user.token, 'wrong');

    expect((await confirm(user.token, codeOf(secret))).status).toBe(429);
    expect((await tryLogin(user)).status).toBe(429);
  });

  it.each([
    ['is void after ten minutes', 0, 10 * minute],
    ['that was begun by a clock that ran ahead is void', 2 * minute, 0],
  ])('%s', async (_, begun, confirmed) => {
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const now = Date.now();
    vi.useFakeTimers({ toFake: ['Date'], now });
    const { token, password } = await register(api);
    vi.setSystemTime(now + begun);
    const { secret } = (await post('', token, { currentPassword: password })).body;
    vi.setSystemTime(now + confirmed);

    expect(outcome(await confirm(token, codeOf(secret)))).toEqual(none);
  });

  it('is 404 where none was begun, and 400 without a code', async () => {
    const { token } = await register(api);

    expect(outcome(await confirm(token, '123456'))).toEqual(none);
    expect(outcome(await confirm(token, ['123456']))).toEqual(refusal(400, 'Code is required'));
  });
});

/** A service that cannot write when a user was last seen, whatever the fault. */
import { afterAll, describe, expect, it } from 'vitest';
import { type Account, logIn, register, uniqueEmail } from '../support/client.ts';
import { asOnAws } from '../support/patience.ts';
import { proxyForThisFile } from '../support/proxied-service.ts';
import { type Fault, faults } from '../support/proxy.ts';
import { startTestService } from '../support/service.ts';

const proxy = await proxyForThisFile();
const service = await startTestService({
  ...asOnAws,
  AWS_ENDPOINT_URL_DYNAMODB: proxy.url,
  SESSION_DAYS: '90',
  LOGIN_FAILURES_PER_ADDRESS: '0',
});
afterAll(() => service.stop());
const { api } = service;

/** Milliseconds within which a request responds although its note fails, also on a machine that has other work. */
const longest = 5000;

const isNote = ({ content }: { readonly content: string }) => content.includes('"seen#');
const onNotes = (fault: Fault): Fault => {
  return (exchange) => (isNote(exchange.request) ? fault : faults.pass)(exchange);
};

describe.each([
  'reset',
  'stall',
  'silence',
  'lose',
  'stallMidway',
  'garble',
  'throttle',
  'throughputExceeded',
  'conflict',
  'internalError',
  'missingTable',
  'conditionFails',
] as const)('While the day cannot be written because of the fault “%s”,', (name) => {
  it('registrations and logins succeed in time', async () => {
    const admin = await logIn(api, service.admin);
    const made = { name: 'N', email: uniqueEmail(), password: 'pass-word-1' };
    await api('POST', '/api/users', { token: admin, json: made });
    proxy.forget();
    proxy.impose({ fault: onNotes(faults[name]) });

    const began = performance.now();
    const login = await api('POST', '/api/login', { json: made });
    const between = performance.now();
    const user: Account = await register(api);
    const ended = performance.now();

    const notes = new Set(proxy.requests.filter(isNote).map(({ content }) => content));
    proxy.impose();
    expect([login.status, user.refreshToken, notes.size]).toEqual([200, expect.any(String), 2]);
    expect(Math.max(between - began, ended - between)).toBeLessThan(longest);
    const { refreshToken } = login.body;
    expect((await api('POST', '/api/refresh', { json: { refreshToken } })).status).toBe(200);
  });
});

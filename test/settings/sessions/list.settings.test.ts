import { describe, expect, it } from 'vitest';
import { isoTimestamp, serviceForThisFile, uniqueAgent } from '../../support/acceptance.ts';
import { type Account, register } from '../../support/client.ts';
import { sessionIn } from '../../support/examples.ts';

const service = await serviceForThisFile({ SESSION_DAYS: '90' });
const { api } = service;

const list = ({ id }: Account, token: string) => api('GET', `/api/users/${id}/sessions`, { token });

describe('GET /api/users/{id}/sessions', () => {
  it('lists the sessions of the user, newest first, with that of the request', async () => {
    const user = await register(api);
    const agent = uniqueAgent();
    const headers = { 'user-agent': agent };
    const { body: login } = await api('POST', '/api/login', { json: user, headers });

    const { status, body } = await list(user, user.token);

    expect(status).toBe(200);
    const times = {
      created_at: isoTimestamp,
      last_used_at: isoTimestamp,
      expires_at: isoTimestamp,
      ip_address: expect.any(String),
    };
    expect(body.data).toEqual([
      { ...times, id: sessionIn(login), user_agent: agent, current: false },
      { ...times, id: sessionIn(user), user_agent: expect.any(String), current: true },
    ]);
    const [{ created_at, last_used_at, expires_at }] = body.data;
    expect(last_used_at).toBe(created_at);
    const idleDays = 30 * 86_400_000;
    expect(Math.abs(Date.parse(expires_at) - Date.parse(created_at) - idleDays)).toBeLessThan(1000);
  });
});

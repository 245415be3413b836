import { describe, expect, it } from 'vitest';
import { logIn, register } from '../../support/client.ts';
import { mailSettings, resetUrl } from '../../support/mailbox.ts';
import {
  operatedServiceForThisFile,
  operatedServiceForThisTest,
  operatorEntry,
} from '../../support/operator.ts';

const service = await operatedServiceForThisFile({ ...mailSettings, SESSION_DAYS: '90' });
const { api, operate } = service;

const setPassword = (link: string, password = 'a new password') => {
  const token = link.trim().replace(`${resetUrl}#token=`, '');
  return api('PUT', '/api/password-resets', { json: { token, password } });
};

describe('reset-password', () => {
  it('prints a link by which the user sets a new password, once', async () => {
    const user = await register(api);

    const { status, stdout, stderr } = await operate(['reset-password', user.email.toUpperCase()]);

    expect(status).toBe(0);
    expect(stdout).toMatch(/^https:\/\/app\.example\.com\/reset#token=\d+\.[\w-]{43}\n$/);
    expect(stderr).toBe(`This link for user ${user.id} is valid for 30 minutes, and only once.\n`);
    expect((await setPassword(stdout)).status).toBe(204);
    expect((await setPassword(stdout)).status).toBe(400);
    expect(await logIn(api, { ...user, password: 'a new password' })).toMatch(/^ey/);
  });

  it('leaves an entry that names the operator, and has no token in it', async () => {
    const user = await register(api);

    const { stdout } = await operate(['reset-password', user.email]);

    const entry = (await service.entries()).at(-1);
    expect(entry).toMatchObject(
      operatorEntry('reset-password', {
        action: 'UPDATE',
        resource_id: String(user.id),
        details: { fields: [], by: 'reset', requested: true },
      }),
    );
    expect(JSON.stringify(entry)).not.toContain(stdout.trim().split('.').at(-1));
  });

  it('refuses for a user who is suspended, whose link would be void', async () => {
    const user = await register(api);
    const token = service.adminToken;
    await api('PUT', `/api/users/${user.id}/suspension`, { token });

    const { status, stderr } = await operate(['reset-password', user.email]);

    expect([status, stderr]).toEqual([
      1,
      `User ${user.id} is suspended: an admin must lift that first.\n`,
    ]);
  });

  it('refuses where the service sends no mails, and changes nothing', async () => {
    const without = await operatedServiceForThisTest();
    const user = await register(without.api);

    const { status, stdout, stderr } = await without.operate(['reset-password', user.email]);

    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/settings mailFrom and resetUrl\.\n$/);
    expect(await without.entries()).toEqual([]);
  });
});

import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { outcome, refusal } from '../../support/acceptance.ts';
import { logIn, register } from '../../support/client.ts';
import { operatedServiceForThisFile, operatorEntry } from '../../support/operator.ts';
import { registerWithFactor } from '../../support/second-factor.ts';

const service = await operatedServiceForThisFile({
  SESSIONS: 'revocable',
  SECOND_FACTOR: 'admins',
});
const { api, folder, operate } = service;

describe('remove-second-factor', () => {
  it('lets a user log in without a code, and ends the sessions', async () => {
    const user = await registerWithFactor(api);

    const { status, stdout, stderr } = await operate(['remove-second-factor', user.email]);

    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toBe(
      `The second factor of user ${user.id} is removed, and the sessions are ended.\n`,
    );
    expect(outcome(await api('GET', '/api/profile', { token: user.token }))).toEqual(
      refusal(401, 'Invalid token'),
    );
    expect(await logIn(api, user)).toMatch(/^ey/);
    expect((await service.entries()).at(-1)).toMatchObject(
      operatorEntry('remove-second-factor', {
        action: 'UPDATE',
        resource_id: String(user.id),
        details: { fields: ['second_factor'], second_factor: 'removed' },
      }),
    );
  });

  it('refuses a user who has none, and changes nothing', async () => {
    const user = await register(api);
    const before = [await service.users(), await service.entries()];

    const { status, stdout, stderr } = await operate(['remove-second-factor', user.email]);

    expect([status, stdout, stderr]).toEqual([1, '', 'This user has no second factor.\n']);
    expect([await service.users(), await service.entries()]).toEqual(before);
  });
});

describe('The key of second factors on this machine', () => {
  it('is in a file that only its owner can read, and in no item', async () => {
    const user = await registerWithFactor(api);
    const file = join(folder, 'second-factor.key');

    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(Buffer.from(readFileSync(file, 'utf8'), 'base64')).toHaveLength(32);
    const stored = JSON.stringify(await service.users());
    for (const kept of [readFileSync(file, 'utf8'), user.secret, ...user.recoveryCodes]) {
      expect(stored).not.toContain(kept);
    }
  });
});

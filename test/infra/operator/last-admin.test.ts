import { describe, expect, it } from 'vitest';
import { register } from '../../support/client.ts';
import { operatedServiceForThisFile } from '../../support/operator.ts';

const service = await operatedServiceForThisFile();
const { api, admin, operate } = service;
const admins = async () => (await service.users()).filter(({ role }) => role === 'admin');

describe('The last admin', () => {
  it('stays one', async () => {
    const { status, stderr } = await operate(['demote', admin.email]);

    expect(status).toBe(1);
    expect(stderr).toMatch(/^This is the last admin.*create-admin or promote/);
    expect(await admins()).toHaveLength(1);
  });

  it('remains of two who demote each other at the same time', async () => {
    const { email } = await register(api);
    const rounds: string[] = [];

    for (let round = 0; round < 2; round += 1) {
      await operate(['promote', email]);
      await operate(['promote', admin.email]);
      const ends = await Promise.all([
        operate(['demote', email]),
        operate(['demote', admin.email]),
      ]);
      rounds.push(
        ends
          .map(({ status }) => status)
          .sort()
          .join(),
      );
      expect(await admins()).toHaveLength(1);
    }

    expect(rounds).toEqual(['0,1', '0,1']);
  });
});

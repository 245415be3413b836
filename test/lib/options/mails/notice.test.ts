import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { changedParts, tryToNotify } from '../../../../lib/options/mails/hand-over.ts';
import type { User } from '../../../../lib/users/user.ts';
import { startMailbox } from '../../../support/mailbox.ts';

const mailbox = await startMailbox();
const logged = vi.spyOn(console, 'error').mockReturnValue();
beforeEach(() => {
  mailbox.fail();
  logged.mockClear();
  const environment = {
    AWS_REGION: 'eu-west-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    LOGIN_FAILURES_PER_ADDRESS: '0',
    ...mailbox.handOver,
  };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
});
afterAll(() => {
  vi.unstubAllEnvs();
  logged.mockRestore();
  mailbox.stop();
});

const user = {
  id: 7,
  name: 'Ada',
  email: 'ada@example.org',
  role: 'user',
  created_at: '2026-11-21T09:05:07.000Z',
} as User;
const source = { request_id: 'r', ip_address: '192.0.2.1', user_agent: 'test' };
const now = new Date('2026-11-22T10:00:00.000Z');
/** The messages about a change that are handed over. */
const handedOver = async (changes: { email?: string; password?: string }) => {
  const before = mailbox.messages.length;
  await tryToNotify(user, changedParts(user, changes), source, { now });
  return mailbox.messages.slice(before);
};

describe('The notice of a change', () => {
  it.each([
    [{ password: 'new' }, ['password']],
    [{ email: 'ada@example.net' }, ['email']],
    [{ email: 'Ada@example.org' }, ['email']],
    [{ email: 'ada@example.net', password: 'new' }, ['password', 'email']],
    [{ email: user.email, password: '' }, ['password']],
  ])(
    'to %j is handed over for the former address, and names the changed fields',
    async (changes, changed) => {
      expect(await handedOver(changes)).toEqual([
        {
          kind: 'notice',
          email: 'ada@example.org',
          changed,
          ...source,
          time: '2026-11-22T10:00:00.000Z',
        },
      ]);
      expect(logged).not.toHaveBeenCalled();
    },
  );

  it.each([{}, { email: user.email }])('to %j is not handed over', async (changes) => {
    expect(await handedOver(changes)).toEqual([]);
  });

  it.each([
    ['on', true, true],
    ['on', false, false],
    ['off', true, false],
  ])(
    'with EMAIL_VERIFICATION=%s, for email_verified %s, is marked as verified: %s',
    async (setting, email_verified, isVerified) => {
      vi.stubEnv('EMAIL_VERIFICATION', setting);

      await tryToNotify({ ...user, email_verified }, ['password'], source, { now });

      expect('isVerified' in (mailbox.messages.at(-1) ?? {})).toBe(isVerified);
      vi.stubEnv('EMAIL_VERIFICATION', 'off');
    },
  );

  it('is not handed over if the service sends no mails', async () => {
    vi.stubEnv('MAIL_FUNCTION_URL', '');

    expect(await handedOver({ password: 'new' })).toEqual([]);
    expect(logged).not.toHaveBeenCalled();
  });

  it('is logged with its request when it cannot be handed over', async () => {
    mailbox.fail(500, 500);

    expect(await handedOver({ password: 'new' })).toEqual([]);

    const lines = logged.mock.calls.map(([line]) => JSON.parse(String(line)));
    expect(lines).toEqual([
      expect.objectContaining({ event: 'mail-not-handed-over', requestId: 'r', fault: 'Http500' }),
    ]);
    expect(String(logged.mock.calls)).not.toContain(user.email);
  });
});

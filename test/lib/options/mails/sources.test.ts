import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { requestMailOrTell } from '../../../../lib/options/mails/announced-limits.ts';
import { requestMail, resetMessage, tryToNotify } from '../../../../lib/options/mails/hand-over.ts';
import { countForSource, type MailCause } from '../../../../lib/options/mails/sources.ts';
import { uniqueEmail } from '../../../support/client.ts';
import { mailingFunctionForThisFile } from '../../../support/mailbox.ts';
import { faults } from '../../../support/proxy.ts';
import { useUpMails } from '../../../support/reset-tokens.ts';

const { proxy, mailbox, tables, logged } = await mailingFunctionForThisFile(({ handOver }) => ({
  ...handOver,
  EMAIL_VERIFICATION: 'on',
  LOGIN_FAILURES_PER_ADDRESS: '1000',
}));

/** Ten minutes before the end of a quarter of an hour. */
const now = new Date('2026-11-21T09:05:00Z');
const later = (minutes: number) => new Date(now.getTime() + minutes * 60_000);

let last = 0;
const newSource = (ip_address = `198.51.100.${++last}`) => ({
  request_id: 'r',
  user_agent: 'test',
  ip_address,
});
type Source = ReturnType<typeof newSource> & { readonly machine_id?: number };

const count = async (times: number, cause: MailCause, source: Source): Promise<number[]> => {
  const waits: number[] = [];
  for (let i = 0; i < times; i += 1) waits.push(await countForSource(cause, source, now));
  return waits;
};

/** The events in the log since the last call. */
const takeEvents = () => {
  const lines = logged.mock.calls.map(([line]) => JSON.parse(String(line)));
  logged.mockClear();
  return lines.map(({ event, kind }) => (kind ? `${event} ${kind}` : event));
};

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now });
  mailbox.messages.length = 0;
  takeEvents();
  return () => void vi.useRealTimers();
});

describe('The mails for which a source may ask in a quarter of an hour', () => {
  it.each([
    ['registration', 100],
    ['admin', 100],
    ['other', 20],
  ] as const)('for the cause %s are limited to %i', async (cause, most) => {
    const waits = await count(most + 1, cause, newSource());

    expect(waits).toEqual([...Array(most).fill(0), 600]);
  });

  it('are counted for a machine, from whatever address, even where addresses are not counted', async () => {
    const waits = await count(99, 'machine', { ...newSource(), machine_id: 7 });
    vi.stubEnv('LOGIN_FAILURES_PER_ADDRESS', '0');
    onTestFinished(() => void vi.stubEnv('LOGIN_FAILURES_PER_ADDRESS', '1000'));

    const rest = await count(2, 'machine', { ...newSource(), machine_id: 7 });
    const other = await count(1, 'machine', { ...newSource(), machine_id: 8 });

    expect([...waits, ...rest, ...other]).toEqual([...Array(100).fill(0), 600, 0]);
  });

  it('are counted for each cause and each address, and anew in the next quarter of an hour', async () => {
    const source = newSource();
    await count(20, 'other', source);

    expect(await countForSource('admin', source, now)).toBe(0);
    expect(await countForSource('other', newSource(), now)).toBe(0);
    expect(await countForSource('other', source, later(9.99))).toBe(1);
    expect(await countForSource('other', source, later(10))).toBe(0);
  });

  it('are counted together for the addresses of one /64 network', async () => {
    await count(20, 'other', newSource('2001:db8:1:2::1'));

    expect(await countForSource('other', newSource('2001:db8:1:2:ffff::2'), now)).toBe(600);
    expect(await countForSource('other', newSource('2001:db8:1:3::1'), now)).toBe(0);
  });

  it('are neither counted nor limited if failed logins of an address are not limited', async () => {
    vi.stubEnv('LOGIN_FAILURES_PER_ADDRESS', '0');
    onTestFinished(() => void vi.stubEnv('LOGIN_FAILURES_PER_ADDRESS', '1000'));
    proxy.forget();

    expect(await count(21, 'other', newSource())).toEqual(Array(21).fill(0));

    expect(proxy.requests).toEqual([]);
  });

  it('are handed over while they cannot be counted, and the fault is logged', async () => {
    proxy.impose({ fault: faults.missingTable });
    onTestFinished(() => proxy.impose());

    await requestMail(resetMessage(uniqueEmail(), newSource()));

    expect(mailbox.messages).toHaveLength(1);
    expect(takeEvents()).toEqual(['mail-not-counted']);
  });
});

describe('A source that has asked for too many mails', () => {
  const usedUp = async () => {
    const source = newSource();
    await count(20, 'other', source);
    return source;
  };
  const [admin, email] = [{ id: 1, role: 'admin' } as const, uniqueEmail()];

  it('has no mail handed over, and this is logged but not reported to the caller', async () => {
    await requestMail(resetMessage(email, await usedUp()));

    expect(mailbox.messages).toEqual([]);
    expect(takeEvents()).toEqual(['mail-withheld reset']);
  });

  it('is refused for the rest of the quarter if the caller may learn of limits, and is logged once', async () => {
    const source = await usedUp();

    const refused = requestMailOrTell(resetMessage(email, source, admin), 'other');

    await expect(refused).rejects.toMatchObject({ code: 'MAILS_LIMITED', retryAfter: 600 });
    expect(mailbox.messages).toEqual([]);
    expect(takeEvents()).toEqual(['mail-withheld reset']);
  });

  it.each([
    [true, 1],
    [false, 0],
  ])(
    'still causes notices to an address only if the address is verified: %s',
    async (email_verified, most) => {
      const user = { id: 1, email: uniqueEmail(), email_verified };

      await tryToNotify(user, ['password'], await usedUp(), { now });

      expect(mailbox.messages).toHaveLength(most);
    },
  );
});

describe('A caller who may learn of limits', () => {
  it('is refused, and not counted, for an address that has had all its mails', async () => {
    const [source, email] = [newSource(), uniqueEmail()];
    await useUpMails({ USERS_TABLE: tables.users }, { kind: 'reset', email });

    const refused = requestMailOrTell(resetMessage(email, source), 'other');

    await expect(refused).rejects.toMatchObject({ code: 'MAILS_LIMITED', retryAfter: 3600 });
    expect(await count(20, 'other', source)).toEqual(Array(20).fill(0));
  });

  it('is counted once for a mail that is handed over', async () => {
    const source = newSource();

    await requestMailOrTell(resetMessage(uniqueEmail(), source), 'other');

    expect(mailbox.messages).toHaveLength(1);
    expect(await count(20, 'other', source)).toEqual([...Array(19).fill(0), 600]);
  });
});

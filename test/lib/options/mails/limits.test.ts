import { describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import {
  type Claim,
  claimMail,
  mailsKey,
  markMailed,
  releaseMail,
  waitForAddress,
} from '../../../../lib/options/mails/limits.ts';
import { uniqueEmail } from '../../../support/client.ts';
import { useOwnTables } from '../../../support/own-tables.ts';
import { scan } from '../../../support/stored-items.ts';

const tables = await useOwnTables();
const start = new Date('2026-11-21T09:05:00Z');
const at = (seconds: number) => ({ now: new Date(start.getTime() + 1000 * seconds) });

/** An address that has received no mails; `mail` claims a mail to it, and returns whether the mail is sent. */
const newAddress = (fields: Partial<Claim> = {}) => {
  const email = uniqueEmail();
  const claimOf = (request_id: string, more: Partial<Claim> = {}): Claim => ({
    kind: 'reset',
    email,
    request_id,
    ...fields,
    ...more,
  });
  const mail = async (second: number, request = `r${second}`, more: Partial<Claim> = {}) => {
    const claim = claimOf(request, more);
    const isClaimed = await claimMail(claim, at(second));
    if (isClaimed) await markMailed(claim);
    return isClaimed;
  };
  return { email, claimOf, mail };
};

const itemOf = async (claim: Claim) =>
  (await scan(inject('engine'), tables.users)).find(({ pk }) => pk === mailsKey(claim).pk);

describe('Mails of one kind to one address', () => {
  it.each([
    ['one a minute', {}, [0, 1, 59, 60, 61, 120], '+..+.+'],
    ['five an hour', {}, [0, 600, 1200, 1800, 2400, 3599, 3600, 3601], '+++++.+.'],
    [
      'ten an hour if the address is verified, so that only its account causes them',
      { isVerified: true },
      [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 3599, 3600],
      '++++++++++..+',
    ],
  ])('are limited to %s', async (_, fields, seconds, expected) => {
    const { mail } = newAddress({ kind: 'notice', ...fields });
    let sent = '';

    for (const second of seconds) sent += (await mail(second)) ? '+' : '.';

    expect(sent).toBe(expected);
  });

  it.each([
    ['none was sent', [], 0, 0],
    ['one was sent this second', [0], 0, 60],
    ['one was sent 59 seconds ago', [0], 59, 1],
    ['one was sent a minute ago', [0], 60, 0],
    ['five were sent within an hour', [0, 600, 1200, 1800, 2400], 2460, 1140],
    [
      'five were sent within an hour, one of them this second',
      [0, 600, 1200, 1800, 3580],
      3580,
      60,
    ],
    ['four were sent within an hour', [0, 600, 1200, 1800, 3000], 3600, 0],
    ['one was sent by a clock that is 50 seconds ahead', [50], 0, 110],
    ['one was sent by a clock that is a day ahead', [86_400], 0, 0],
  ])(
    'are possible again after the right number of seconds if %s',
    async (_, sent, second, expected) => {
      const { claimOf, mail } = newAddress();
      for (const each of sent) await mail(each);

      expect(await waitForAddress(claimOf('next'), at(second).now)).toBe(expected);
    },
  );

  it('are logged with their kind if a limit withholds them, but not if they have been sent before', async () => {
    const logged = vi.spyOn(console, 'error').mockReturnValue();
    onTestFinished(() => logged.mockRestore());
    const { mail, email } = newAddress({ kind: 'verification' });
    await mail(0, 'one');
    await mail(1, 'one');
    expect(logged).not.toHaveBeenCalled();

    await mail(2, 'two');

    const [[line] = []] = logged.mock.calls;
    expect(JSON.parse(String(line))).toEqual({
      level: 'warn',
      event: 'mail-withheld',
      requestId: 'two',
      kind: 'verification',
    });
    expect(String(line)).not.toContain(email);
  });

  it('are counted separately for each kind and each address, whatever its letter case', async () => {
    const { email, mail } = newAddress();
    await mail(0);

    expect(await mail(1, 'a', { kind: 'verification' })).toBe(true);
    expect(await mail(1, 'b', { kind: 'notice' })).toBe(true);
    expect(await newAddress().mail(1)).toBe(true);
    expect(await mail(1, 'c', { email: email.toUpperCase() })).toBe(false);
  });

  it('are not sent again for a request that has had its mail, even if another request followed', async () => {
    const { mail } = newAddress();
    await mail(0, 'one');

    expect(await mail(5, 'one')).toBe(false);
    await mail(600, 'two');
    expect(await mail(1200, 'one')).toBe(false);
    expect(await mail(3500, 'two')).toBe(false);
  });

  it('are put off while a mail for the same request is being sent, so that Lambda tries again', async () => {
    const { claimOf } = newAddress();
    await claimMail(claimOf('one'), at(0));

    await expect(claimMail(claimOf('one'), at(49))).rejects.toMatchObject({ name: 'MailUnderWay' });

    expect(await claimMail(claimOf('one'), at(50))).toBe(true);
  });

  it('are sent once if a request is delivered several times at once', async () => {
    const { claimOf } = newAddress();

    const outcomes = await Promise.allSettled(
      Array.from({ length: 4 }, () => claimMail(claimOf('a'), at(0))),
    );

    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toEqual([
      { status: 'fulfilled', value: true },
    ]);
  });

  it('are sent again for a request whose mail could not be sent, and are counted once', async () => {
    const { claimOf } = newAddress();
    await claimMail(claimOf('one'), at(0));
    await releaseMail(claimOf('one'));

    expect(await claimMail(claimOf('one'), at(30))).toBe(true);
    expect((await itemOf(claimOf('one')))?.mailed).toEqual([
      { request_id: 'one', at: start.getTime() / 1000 },
    ]);
  });

  it('are sent for only one of several simultaneous requests', async () => {
    const { mail, claimOf } = newAddress();
    await mail(-120, 'before');

    const outcomes = await Promise.allSettled(
      ['a', 'b', 'c', 'd'].map((request) => claimMail(claimOf(request), at(0))),
    );

    const sent = outcomes.filter((each) => each.status === 'fulfilled' && each.value);
    expect(sent).toHaveLength(1);
  });

  it('are not delayed by times in the future, left by a clock that has been set back', async () => {
    const { mail } = newAddress();
    await mail(86_400, 'ahead');

    expect(await mail(0, 'now')).toBe(true);
  });

  it('are remembered for an hour after the newest mail, without the address in readable form', async () => {
    const { mail, claimOf, email } = newAddress();
    await mail(0, 'one');

    const item = await itemOf(claimOf('one'));

    expect(item?.expires_at).toBe(start.getTime() / 1000 + 3600);
    expect(JSON.stringify(item)).not.toContain(email);
  });
});

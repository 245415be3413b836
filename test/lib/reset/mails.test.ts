import { describe, expect, it } from 'vitest';
import { makeMailedToken, markMailed, releaseMail } from '../../../lib/reset/mails.ts';
import { findLink, makeLinkToken, resetLink } from '../../../lib/reset/store.ts';
import type { StoredUser } from '../../../lib/users/items.ts';
import { at, itemOf, newUser, start } from '../../support/reset-items.ts';

describe('The links that are mailed', () => {
  const mailed = async (user: StoredUser, request: string, seconds: number) => {
    const token = await makeMailedToken(resetLink(user), request, at(seconds));
    if (token) await markMailed(resetLink(user), request);
    return token !== undefined;
  };

  it('are limited to one a minute', async () => {
    const user = await newUser();

    const made = [0, 1, 59, 60, 61, 120].map((second) => ({ second }));
    const results: boolean[] = [];
    for (const { second } of made) results.push(await mailed(user, `r${second}`, second));

    expect(results).toEqual([true, false, false, true, false, true]);
  });

  it('are limited to five an hour', async () => {
    const user = await newUser();
    const results: boolean[] = [];
    for (let i = 0; i < 5; i += 1) results.push(await mailed(user, `r${i}`, 600 * i));

    results.push(await mailed(user, 'sixth', 3599), await mailed(user, 'later', 3600));

    expect(results).toEqual([true, true, true, true, true, false, true]);
  });

  it('are counted for each account', async () => {
    const [user, other] = [await newUser(), await newUser()];
    await mailed(user, 'one', 0);

    expect(await mailed(other, 'two', 0)).toBe(true);
  });

  it('leave the newest link valid while no other may be mailed', async () => {
    const user = await newUser();
    const token = (await makeMailedToken(resetLink(user), 'one', at(0))) ?? '';

    await makeMailedToken(resetLink(user), 'two', at(10));

    expect(await findLink('reset', token, at(20))).toBeDefined();
  });

  it('are not made again for a request that was mailed', async () => {
    const user = await newUser();
    await mailed(user, 'one', 0);

    expect(await mailed(user, 'one', 5)).toBe(false);
    expect(await mailed(user, 'one', 3500)).toBe(false);
  });

  it('are not made again for a request that was mailed before another one', async () => {
    const user = await newUser();
    await mailed(user, 'one', 0);
    const newest = (await makeMailedToken(resetLink(user), 'two', at(600))) ?? '';
    await markMailed(resetLink(user), 'two');

    expect(await mailed(user, 'one', 1200)).toBe(false);
    expect(await findLink('reset', newest, at(1201))).toBeDefined();
  });

  it('are not made for a request that is being mailed, so that Lambda tries it again', async () => {
    const user = await newUser();
    const token = (await makeMailedToken(resetLink(user), 'one', at(0))) ?? '';

    await expect(makeMailedToken(resetLink(user), 'one', at(49))).rejects.toMatchObject({
      name: 'MailUnderWay',
    });

    expect(await findLink('reset', token, at(49))).toBeDefined();
    expect(await makeMailedToken(resetLink(user), 'one', at(50))).toBeDefined();
  });

  it('are made once when a request is delivered several times at once', async () => {
    const user = await newUser();

    const outcomes = await Promise.allSettled(
      ['a', 'a', 'a', 'a'].map((request) => makeMailedToken(resetLink(user), request, at(0))),
    );

    const made = outcomes.filter(({ status }) => status === 'fulfilled');
    expect(made).toEqual([{ status: 'fulfilled', value: expect.stringMatching(/^\d+\./) }]);
  });

  it('are made again for a request whose mail was not sent, and counted once', async () => {
    const user = await newUser();
    const first = await makeMailedToken(resetLink(user), 'one', at(0));
    await releaseMail(resetLink(user), 'one');
    const second = await makeMailedToken(resetLink(user), 'one', at(30));

    expect(second).toBeDefined();
    expect(second).not.toBe(first);
    expect((await itemOf(user))?.mailed).toEqual([
      { request_id: 'one', at: start.getTime() / 1000 },
    ]);
  });

  it('are made for one of several simultaneous requests', async () => {
    const user = await newUser();
    await mailed(user, 'before', -120);

    const tokens = await Promise.all(
      ['a', 'b', 'c', 'd'].map((request) => makeMailedToken(resetLink(user), request, at(0))),
    );

    const made = tokens.filter((token) => token !== undefined);
    expect(made).toHaveLength(1);
    expect(await findLink('reset', made[0] ?? '', at(1))).toBeDefined();
  });

  it('are not delayed by times in the future, which a clock has left that was set back', async () => {
    const user = await newUser();
    await mailed(user, 'ahead', 86_400);

    expect(await mailed(user, 'now', 0)).toBe(true);
  });

  it('stay counted when a link is used, or made by an operator', async () => {
    const user = await newUser();
    await mailed(user, 'one', 0);
    await makeLinkToken(resetLink(user), at(1));

    expect(await mailed(user, 'two', 30)).toBe(false);
    expect(await mailed(user, 'three', 60)).toBe(true);
  });

  it('are remembered for an hour after the newest one', async () => {
    const user = await newUser();
    await mailed(user, 'one', 0);

    expect((await itemOf(user))?.expires_at).toBe(start.getTime() / 1000 + 3600);
  });
});

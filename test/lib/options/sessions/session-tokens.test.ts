import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  checkRefreshToken,
  firstRefreshToken,
  nextRefreshToken,
  readRefreshToken,
  type TokenCheck,
} from '../../../../lib/options/sessions/session-tokens.ts';
import { makeSessionId, type RefreshState } from '../../../../lib/options/sessions/sessions.ts';

const sessionId = makeSessionId();
const first = firstRefreshToken(7, sessionId);
/** The token and the state that replace a token when it is used. */
const exchanged = (refreshToken: string, refresh: RefreshState) =>
  nextRefreshToken(readRefreshToken(refreshToken), refresh);
const next = exchanged(first.refreshToken, first.refresh);
const replacing = exchanged(first.refreshToken, next.refresh);

const minute = 60_000;
/** How a token relates to a session that was refreshed some milliseconds ago. */
const check = (refreshToken: string, refresh: RefreshState, ago = 0): TokenCheck['is'] => {
  const used = Date.now();
  const source = { ip_address: '', user_agent: '' };
  const session = { id: '', epoch: 0, created: used, used, until: 0, ...source, refresh };
  return checkRefreshToken(readRefreshToken(refreshToken), session, new Date(used + ago)).is;
};

const hmac = (key: string, text: string, bytes = 32) =>
  createHmac('sha256', key).update(text).digest().subarray(0, bytes).toString('base64url');

describe('A refresh token', () => {
  const { refresh } = next;
  const used = { ...refresh, isUsed: true } as const;
  const third = exchanged(next.refreshToken, refresh);
  it.each([
    ['the first one', first.refreshToken, first.refresh, 90 * 24 * 60 * minute, 'good'],
    ['the newest one', next.refreshToken, refresh, minute + 1, 'good'],
    ['the newest one, whose access token was used', next.refreshToken, used, 0, 'good'],
    ['the one before, within a minute', first.refreshToken, refresh, minute, 'repeated'],
    ['the one before, within a minute of use', first.refreshToken, used, minute, 'repeated'],
    ['the one before, where clocks differ', first.refreshToken, refresh, -minute, 'repeated'],
    ['the one before, later', first.refreshToken, refresh, minute + 1, 'good'],
    ['the one before, later, after use', first.refreshToken, used, minute + 1, 'reused'],
    ['an older one', first.refreshToken, third.refresh, 0, 'reused'],
    ['a replaced one', next.refreshToken, replacing.refresh, 0, 'reused'],
    ['the replacing one', replacing.refreshToken, replacing.refresh, minute + 1, 'good'],
    ['the one before that', first.refreshToken, replacing.refresh, minute, 'repeated'],
    ['the one before that, later', first.refreshToken, replacing.refresh, minute + 1, 'good'],
  ] as const)('that is %s', (_, refreshToken, state, ago, expected) => {
    expect(check(refreshToken, state, ago)).toBe(expected);
  });

  it.each([
    ['first', first.refresh, 0, 0],
    ['exchanged for the first', next.refresh, 1, 0],
    ['exchanged for that', third.refresh, 2, 0],
    ['replacing one', replacing.refresh, 2, 2],
    [
      'exchanged for one that replaced another',
      exchanged(replacing.refreshToken, replacing.refresh).refresh,
      3,
      2,
    ],
  ])('of the pair that is %s says which access tokens are valid', (_, state, pair, oldest) => {
    expect([state.pair, state.oldest, state.isUsed]).toEqual([pair, oldest, undefined]);
  });

  it('does not follow from the one before it alone', () => {
    const other = exchanged(first.refreshToken, first.refresh);

    expect(other.refreshToken).not.toBe(next.refreshToken);
  });

  const { key, newest, salt = '' } = next.refresh;
  it.each([
    ['hash of the newest one', newest],
    ['salt', salt],
    ['token that follows from both', hmac(newest, salt)],
  ])('cannot be made of what the table holds: the %s with the right tag', (_, secret) => {
    const made = `7.${sessionId}.${secret}${hmac(key, secret, 16)}`;

    // A reader of the table could end a session by such a token, but could not use the session.
    expect(check(made, next.refresh)).toBe('reused');
  });

  it.each(['0', '9007199254740992', '07', '-7', '7e0'])('of the user %s is invalid', (id) => {
    const made = first.refreshToken.replace('7', id);

    expect(() => readRefreshToken(made)).toThrow('Invalid refresh token');
  });
});

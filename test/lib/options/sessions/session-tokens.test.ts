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
    ['the first token', first.refreshToken, first.refresh, 90 * 24 * 60 * minute, 'good'],
    ['the newest token', next.refreshToken, refresh, minute + 1, 'good'],
    ['the newest token after the use of its access token', next.refreshToken, used, 0, 'good'],
    ['the previous token within a minute', first.refreshToken, refresh, minute, 'repeated'],
    ['the previous token within a minute, after use', first.refreshToken, used, minute, 'repeated'],
    ['the previous token while clocks differ', first.refreshToken, refresh, -minute, 'repeated'],
    ['the previous token after a minute', first.refreshToken, refresh, minute + 1, 'good'],
    [
      'the previous token after a minute and after use',
      first.refreshToken,
      used,
      minute + 1,
      'reused',
    ],
    ['an older token', first.refreshToken, third.refresh, 0, 'reused'],
    ['a replaced token', next.refreshToken, replacing.refresh, 0, 'reused'],
    ['the replacing token', replacing.refreshToken, replacing.refresh, minute + 1, 'good'],
    [
      'the token before the replacing token',
      first.refreshToken,
      replacing.refresh,
      minute,
      'repeated',
    ],
    [
      'the token before the replacing token, after a minute',
      first.refreshToken,
      replacing.refresh,
      minute + 1,
      'good',
    ],
  ] as const)('that is %s has the expected state', (_, refreshToken, state, ago, expected) => {
    expect(check(refreshToken, state, ago)).toBe(expected);
  });

  it.each([
    ['first', first.refresh, 0, 0],
    ['exchanged for the first', next.refresh, 1, 0],
    ['exchanged for the second', third.refresh, 2, 0],
    ['the replacement of another', replacing.refresh, 2, 2],
    [
      'exchanged for a replacement',
      exchanged(replacing.refreshToken, replacing.refresh).refresh,
      3,
      2,
    ],
  ])(
    'has the expected pair number and oldest valid pair when its pair is %s',
    (_, state, pair, oldest) => {
      expect([state.pair, state.oldest, state.isUsed]).toEqual([pair, oldest, undefined]);
    },
  );

  it('cannot be derived from the previous token alone', () => {
    const other = exchanged(first.refreshToken, first.refresh);

    expect(other.refreshToken).not.toBe(next.refreshToken);
  });

  const { key, newest, salt = '' } = next.refresh;
  it.each([
    ['hash of the newest token', newest],
    ['salt', salt],
    ['token derived from both', hmac(newest, salt)],
  ])(
    'cannot be made from what the table stores: the %s with a correct tag is not accepted',
    (_, secret) => {
      const made = `7.${sessionId}.${secret}${hmac(key, secret, 16)}`;

      // A reader of the table could end a session by such a token, but could not use the session.
      expect(check(made, next.refresh)).toBe('reused');
    },
  );

  it.each(['0', '9007199254740992', '07', '-7', '7e0'])('of the user %s is invalid', (id) => {
    const made = first.refreshToken.replace('7', id);

    expect(() => readRefreshToken(made)).toThrow('Invalid refresh token');
  });
});

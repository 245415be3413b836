import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  firstRefreshToken,
  nextRefreshToken,
  parseRefreshToken,
  type Standing,
  standingOf,
} from '../../../lib/auth/refresh-token.ts';
import { makeSessionId, type RefreshState } from '../../../lib/users/sessions.ts';

const now = new Date();
const sessionId = makeSessionId();
const first = firstRefreshToken(7, sessionId);
const next = nextRefreshToken(parseRefreshToken(first.refreshToken), first.refresh);

/** How a token relates to a session that was refreshed just now. */
const standing = (refreshToken: string, refresh?: RefreshState): Standing['is'] => {
  const time = now.getTime();
  const session = { epoch: 0, created: time, used: time, until: 0 };
  const given = parseRefreshToken(refreshToken);
  return standingOf(given, refresh ? { ...session, refresh } : session, now).is;
};

const hmac = (key: string, text: string, bytes = 32) =>
  createHmac('sha256', key).update(text).digest().subarray(0, bytes).toString('base64url');

describe('A refresh token', () => {
  it('is the newest one, and after its use the one that is answered again', () => {
    expect(standing(first.refreshToken, first.refresh)).toBe('newest');
    expect(standing(first.refreshToken, next.refresh)).toBe('repeated');
    expect(standing(next.refreshToken, next.refresh)).toBe('newest');
  });

  it('is unknown where its session has none', () => {
    expect(standing(first.refreshToken)).toBe('unknown');
  });

  it('does not follow from the one before it alone', () => {
    const other = nextRefreshToken(parseRefreshToken(first.refreshToken), first.refresh);

    expect(other.refreshToken).not.toBe(next.refreshToken);
  });

  const { key, newest, salt = '' } = next.refresh;
  it.each([
    ['hash of the newest one', newest],
    ['salt', salt],
    ['token that follows from both', hmac(newest, salt)],
  ])('cannot be made of what the table holds: the %s with the right tag', (_, secret) => {
    const made = `7.${sessionId}.${secret}${hmac(key, secret, 16)}`;

    // Who reads the table could end a session by it, and not use one.
    expect(standing(made, next.refresh)).toBe('reused');
  });

  it.each(['0', '9007199254740992', '07', '-7', '7e0'])('of the user %s is invalid', (id) => {
    const made = first.refreshToken.replace('7', id);

    expect(() => parseRefreshToken(made)).toThrow('Invalid refresh token');
  });
});

import { describe, expect, it } from 'vitest';
import { timeToLive } from '../../../lib/audit/record.ts';
import { hasExpired } from '../../../lib/audit/retention.ts';

const created_at = '2026-11-21T09:05:00.500Z';
const created = Date.parse(created_at);
const day = 86_400_000;

describe('The time to live of an entry', () => {
  it('ends the given number of days after the second in which the entry was recorded', () => {
    expect(timeToLive({ created_at }, 30)).toEqual({
      expiresAt: Math.floor(created / 1000) + 30 * 86_400,
    });
  });

  it('is absent where entries are kept for ever', () => {
    expect(timeToLive({ created_at }, 0)).toEqual({});
  });
});

describe('An entry', () => {
  const { expiresAt: expires_at = 0 } = timeToLive({ created_at }, 30);

  it('has expired from the second that its time to live names', () => {
    expect(hasExpired({ created_at, expires_at }, expires_at * 1000)).toBe(true);
    expect(hasExpired({ created_at, expires_at }, expires_at * 1000 - 1)).toBe(false);
  });

  it.each([
    ['to live that is text', String(expires_at)],
    ['to live that is missing', undefined],
    ['to live that is shorter than any setting allows', expires_at - 86_400],
    ['to live that is a second shorter than any setting allows', expires_at - 1],
    ['to live before the entry was recorded', expires_at - 60 * 86_400],
  ])('has never expired by a time %s', (_, other) => {
    expect(hasExpired({ created_at, expires_at: other }, created + 365 * day)).toBe(false);
  });

  it('has not expired a second too early, even if it was recorded at the start of a second', () => {
    const begun = '2026-11-21T09:05:00.000Z';

    for (const [time, expired] of [
      [expires_at, true],
      [expires_at - 1, false],
    ] as const) {
      const entry = { created_at: begun, expires_at: time };
      expect(hasExpired(entry, created + 365 * day)).toBe(expired);
    }
  });
});

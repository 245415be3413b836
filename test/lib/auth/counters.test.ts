import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { countRegistration } from '../../../lib/auth/limits.ts';
import type { DomainError } from '../../../lib/errors.ts';
import { useOwnTables } from '../../support/own-tables.ts';

beforeAll(async () => {
  process.env.REGISTRATIONS_PER_ADDRESS = '2';
  await useOwnTables();
});

const outcomeOf = (work: Promise<void>): Promise<DomainError | undefined> =>
  work.then(() => undefined).catch((error) => error);
const tooMany = (retryAfter: number) =>
  expect.objectContaining({ code: 'TOO_MANY_ATTEMPTS', retryAfter });

describe('A clock that is set back', () => {
  const noon = new Date('2026-11-21T12:00:00Z');
  const earlier = (minutes: number) => new Date(noon.getTime() - minutes * 60_000);

  const used = async () => {
    const address = randomUUID();
    const count = (now: Date) => outcomeOf(countRegistration(address, { now }));
    await count(noon);
    await count(noon);
    return count;
  };

  it('prolongs a wait to fifteen minutes at most', async () => {
    const count = await used();

    expect(await count(noon)).toEqual(tooMany(30));
    expect(await count(earlier(10))).toEqual(tooMany(630));
  });

  it.each([16, 120, 60 * 24 * 365])('by %d minutes ends a wait', async (minutes) => {
    const count = await used();

    expect(await count(earlier(minutes))).toBeUndefined();
    expect(await count(earlier(minutes))).toBeUndefined();
    expect(await count(earlier(minutes))).toEqual(tooMany(30));
  });
});

describe('The longest wait', () => {
  it('counts for who looks at it by a clock that is behind, too', async () => {
    const address = randomUUID();
    const start = Date.parse('2026-11-21T12:00:00Z');
    let time = start;
    const count = () => outcomeOf(countRegistration(address, { now: new Date(time) }));
    await count();
    for (let wait = 0; wait < 900; time += wait * 1000) {
      await count();
      wait = Number((await count())?.retryAfter);
    }
    time -= 900_000;

    expect(await count()).toEqual(tooMany(900));
    time -= 1;
    expect(await count()).toEqual(tooMany(900));
    time -= 5000;
    expect(await count()).toEqual(tooMany(900));
  });
});

describe('Attempts that are counted at the same time', () => {
  it('are let through as often as the limit says, however many there are', async () => {
    const address = randomUUID();

    const outcomes = await Promise.all(
      Array.from({ length: 60 }, () => outcomeOf(countRegistration(address))),
    );

    expect(outcomes.filter((outcome) => outcome === undefined)).toHaveLength(2);
  });
});

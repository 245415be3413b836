import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { type Count, increment, waitOf } from '../../../lib/limits/count.ts';
import { settings } from '../../../lib/settings.ts';

const limit = Number(settings.loginFailuresPerAccount.default);
const day = 24 * 60 * 60;

/** A count after one more attempt, as its update writes it. */
const counted = (count: Count | undefined, now: number): Count => {
  const values: Readonly<Record<string, number | undefined>> = increment(
    count,
    limit,
    now,
  ).ExpressionAttributeValues;
  return {
    occurrences: values[':next'] ?? (count?.occurrences ?? 0) + 1,
    expires_at: values[':expires'] ?? count?.expires_at ?? 0,
    ...(values[':blocked'] === undefined ? {} : { blocked_until: values[':blocked'] }),
  };
};

/** Failures a day of somebody who fails as often as is allowed, and then lets the count expire. */
const failuresADay = (failures: number): number => {
  let [count, now]: [Count | undefined, number] = [undefined, 0];
  for (let made = 0; made < failures; made += 1) {
    now += waitOf(count, new Date(now * 1000));
    count = counted(count, now);
  }
  return (failures * day) / (count?.expires_at ?? 0);
};

it('An account can fail at most as many logins a day as SECURITY.md says, and a code is guessed so late', () => {
  const most = Math.max(...Array.from({ length: 60 }, (_, i) => failuresADay(i + 1)));
  // Of a million codes, an app shows three within the steps that are accepted.
  const evenChance = Math.log(1 / 2) / Math.log(1 - 3 / 1_000_000);

  const text = readFileSync('.github/SECURITY.md', 'utf8').replaceAll(/\s+/g, ' ');

  expect(text).toContain(
    `at most ${Math.floor(most)} guesses a day, one after another, each in the trail: an even chance takes ${Math.floor(evenChance / most)} days`,
  );
});

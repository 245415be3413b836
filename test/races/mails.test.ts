import { expect, it, vi } from 'vitest';
import { uniqueEmail } from '../support/client.ts';
import { mailingServiceForThisFile } from '../support/mailbox.ts';
import { until } from '../support/until.ts';
import { count, times } from './at-once.ts';

const { api, adminToken: token, mailbox } = await mailingServiceForThisFile();

/** How many lines of the log say that a mail was withheld. */
const logged = vi.spyOn(console, 'error').mockReturnValue();
const withheld = () =>
  logged.mock.calls.filter(([line]) => String(line).includes('"mail-withheld"')).length;

it('Of ten invitations of one user at once one is mailed, and each other one is refused or logged', async () => {
  const email = uniqueEmail();
  const json = { name: 'Ada', email, invite: true };

  const made = await times(10, () => api('POST', '/api/users', { token, json }));
  await mailbox.mailsTo(email);

  expect(count(made, 201)).toBe(1);
  expect(count(made, 409) + count(made, 429)).toBe(9);
  const { id } = made.find(({ status }) => status === 201)?.body ?? {};
  // The address has had its mail of this minute: let another one through.
  const { length } = mailbox.mails;
  const before = withheld();
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61_000 });

  const again = await times(10, () => api('POST', `/api/users/${id}/invitations`, { token }));

  await until(() => withheld() === before + 9, 'Nine invitations are not said to be withheld');
  vi.useRealTimers();
  expect(count(again, 204)).toBeGreaterThan(0);
  expect(count(again, 204) + count(again, 429)).toBe(10);
  await mailbox.mailsTo(email, 2);
  expect(mailbox.mails).toHaveLength(length + 1);
});

import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { expect, inject, it } from 'vitest';
import { mailsKey } from '../../lib/options/mails/limits.ts';
import { uniqueEmail } from '../support/client.ts';
import { mailingServiceForThisFile } from '../support/mailbox.ts';
import { engineClient } from '../support/stored-items.ts';
import { until } from '../support/until.ts';
import { count, times } from './at-once.ts';

const service = await mailingServiceForThisFile();
const { api, adminToken: token, mailbox, environment } = service;

/** How many lines of the log say that a mail was withheld. */
const withheld = () => service.output().match(/"event":"mail-withheld"/g)?.length ?? 0;

it('Only one of ten simultaneous invitations is mailed, and the others are refused or logged', async () => {
  const email = uniqueEmail();
  const json = { name: 'Ada', email, invite: true };

  const made = await times(10, () => api('POST', '/api/users', { token, json }));
  await mailbox.mailsTo(email);
  const before = withheld();
  const Key = mailsKey({ kind: 'reset', email });
  const minuteOver = new DeleteCommand({ TableName: environment.USERS_TABLE, Key });
  await engineClient(inject('engine')).send(minuteOver);
  const { id } = made.find(({ status }) => status === 201)?.body ?? {};
  const again = await times(10, () => api('POST', `/api/users/${id}/invitations`, { token }));
  await until(() => withheld() === before + 9, 'Nine invitations are not said to be withheld');

  expect([count(made, 201), count(made, 409) + count(made, 429)]).toEqual([1, 9]);
  expect(count(again, 204)).toBeGreaterThan(0);
  expect(count(again, 204) + count(again, 429)).toBe(10);
  await mailbox.mailsTo(email, 2);
  expect(mailbox.mails).toHaveLength(2);
});

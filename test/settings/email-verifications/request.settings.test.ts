import { describe, expect, it } from 'vitest';
import { outcome, refusal } from '../../support/acceptance.ts';
import { register, uniqueEmail } from '../../support/client.ts';
import { mailingServiceForThisFile } from '../../support/mailbox.ts';
import { useUpMails } from '../../support/reset-tokens.ts';
import { mailedToken, verificationSettings, verify } from '../../support/verification.ts';

const service = await mailingServiceForThisFile(verificationSettings.on);
const { api, mailbox, adminToken } = service;

const message = 'Unless the address is verified, a mail is on its way';
const ask = (token: string) => api('POST', '/api/email-verifications', { token });

describe('POST /api/email-verifications', () => {
  it('mails a link to an unverified address within the limits of mails, and tells the user of a limit', async () => {
    const user = await register(api);
    await mailedToken(service, user.email);
    await useUpMails(service.environment, { kind: 'verification', email: user.email });

    const answers = [await ask(user.token), await ask(adminToken)];
    const email = uniqueEmail();
    const json = { email };
    await api('PUT', `/api/users/${user.id}`, { token: user.token, json });
    const link = await mailedToken(service, email);
    answers.push(await ask(user.token));

    expect(answers.map(outcome)).toEqual([
      refusal(429, 'Too many mails'),
      [202, { message }],
      [202, { message }],
    ]);
    // The link to the new address is still valid, because no link was mailed to the old address instead.
    expect((await verify(api, link, user.password)).status).toBe(204);
    expect(mailbox.mails.filter(({ to }) => to.includes(service.admin.email))).toEqual([]);
  });

  it('requires a token of a user who exists', async () => {
    const user = await register(api);
    await api('DELETE', `/api/users/${user.id}`, { token: adminToken });

    expect(outcome(await ask(user.token))).toEqual(refusal(404, 'User not found'));
    expect(outcome(await api('POST', '/api/email-verifications'))).toEqual(
      refusal(401, 'No token provided'),
    );
  });
});

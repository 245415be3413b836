import { DeleteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, inject, it } from 'vitest';
import { mailsKey } from '../../../lib/options/mails/limits.ts';
import { entriesOf, outcome, refusal, stopClock, uniqueAgent } from '../../support/acceptance.ts';
import { type Account, makeUser, register } from '../../support/client.ts';
import { mailingServiceForThisFile } from '../../support/mailbox.ts';
import { factorClient, factorSettings, registerWithFactor } from '../../support/second-factor.ts';
import { engineClient } from '../../support/stored-items.ts';

const invalid = refusal(400, 'Invalid or expired reset token');
const path = '/api/password-resets';

const mailingService = async (environment = {}) => {
  const service = await mailingServiceForThisFile({ ...environment, PASSWORD_MIN_LENGTH: '8' });
  const { api } = service;
  return {
    ...service,
    reset: (token: unknown, password: unknown = 'a new password', headers = {}) =>
      api('PUT', path, { json: { token, password }, headers }),
    opens: async ({ email }: Pick<Account, 'email'>, password: string) =>
      (await api('POST', '/api/login', { json: { email, password } })).status,
  };
};
const service = await mailingService({ SESSION_DAYS: '90' });
const { api, requestToken, reset, opens } = service;

describe('PUT /api/password-resets', async () => {
  const engine = engineClient(inject('engine'));
  const TableName = service.environment.USERS_TABLE;

  it('sets the password of the user of the link, records that, and the old password is no longer valid', async () => {
    const user = await register(api);
    const token = await requestToken(user.email);
    const agent = uniqueAgent();

    const answer = await reset(token, 'a new password', { 'user-agent': agent });

    expect([answer.status, answer.text]).toEqual([204, '']);
    expect(await opens(user, user.password)).toBe(401);
    expect(await opens(user, 'a new password')).toBe(200);
    const details = JSON.stringify({ fields: ['password'], by: 'reset' });
    expect(await entriesOf(service, agent)).toMatchObject([{ action: 'UPDATE', details }]);
  });

  it('ends the permission of the creator of this user', async () => {
    const { token } = await register(api);
    const made = await makeUser(api, token);
    const rename = () => api('PUT', `/api/users/${made.id}`, { token, json: { name: 'New' } });
    const link = await requestToken(made.email);
    expect((await rename()).status).toBe(200);

    await reset(link);

    expect(outcome(await rename())).toEqual(refusal(403, 'Forbidden'));
  });

  it('ends the wait of an account after failed logins', async () => {
    stopClock();
    const user = await register(api);
    for (let i = 0; i < 10; i += 1) await opens(user, 'wrong');
    expect(await opens(user, user.password)).toBe(429);
    const token = await requestToken(user.email);

    await reset(token);

    expect(await opens(user, 'a new password')).toBe(200);
  });

  const factor = await mailingServiceForThisFile(factorSettings);
  it('does not forget failures of a user with a second factor, however many links are used', async () => {
    stopClock();
    const { tryLogin } = factorClient(factor.api);
    const user = await registerWithFactor(factor.api);
    const [code] = user.recoveryCodes;
    for (let i = 0; i < 10; i += 1) await tryLogin(user, { code: 'wrong' });
    const token = await factor.requestToken(user.email);

    const json = { token, password: 'a new password' };
    const answer = await factor.api('PUT', '/api/password-resets', { json });

    expect(answer.status).toBe(204);
    const login = await tryLogin({ ...user, ...json }, { code });
    expect(outcome(login)).toEqual(refusal(429, 'Too many attempts, please try again later'));
  });

  it('sets the password of a user who was imported without a password', async () => {
    const user = await register(api);
    await engine.send(
      new UpdateCommand({
        TableName,
        Key: { pk: `user#${user.id}` },
        UpdateExpression: 'SET password_hash = :none',
        ExpressionAttributeValues: { ':none': `$2b$04$${'.'.repeat(53)}` },
      }),
    );
    expect(await opens(user, user.password)).toBe(401);

    await reset(await requestToken(user.email));

    expect(await opens(user, 'a new password')).toBe(200);
  });

  it('works even after the items of the link and of the mails were deleted', async () => {
    const user = await register(api);
    const token = await requestToken(user.email);
    const mails = mailsKey({ kind: 'reset', email: user.email });
    for (const Key of [{ pk: `reset#${user.id}` }, { pk: mails.pk }]) {
      await engine.send(new DeleteCommand({ TableName, Key }));
    }

    expect(outcome(await reset(token))).toEqual(invalid);
    expect((await reset(await requestToken(user.email))).status).toBe(204);
  });
});

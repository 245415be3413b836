import { GetCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, inject, it } from 'vitest';
import { listUsers, outcome, refusal, stopClock } from '../support/acceptance.ts';
import { logIn, register, uniqueEmail } from '../support/client.ts';
import { appoint, promote } from '../support/examples.ts';
import { makeMachine } from '../support/machines.ts';
import { mailingServiceForThisFile, tokenIn } from '../support/mailbox.ts';
import { markVerified } from '../support/reset-tokens.ts';
import { engineClient } from '../support/stored-items.ts';
import { verificationSettings } from '../support/verification.ts';

const service = await mailingServiceForThisFile({
  ...verificationSettings.on,
  MACHINES: 'on',
  SESSION_DAYS: '90',
  ACCOUNTS: 'private',
  USER_ATTRIBUTES:
    '[{"name":"locale","type":"text","writer":"user"},{"name":"plan","type":"text"}]',
});
const { api, adminToken, environment, mailbox } = service;
const engine = engineClient(inject('engine'));
const forbidden = refusal(403, 'Forbidden');

const writer = await makeMachine(api, adminToken, ['users:write']);
const reader = await makeMachine(api, adminToken, ['users:read']);

const create = (json: object, token = writer.key) =>
  api('POST', '/api/users', { token, json: { name: 'Ada', ...json } });
const change = (id: number, json: object, token = writer.key) =>
  api('PUT', `/api/users/${id}`, { token, json });
const invite = (id: number, token = writer.key) =>
  api('POST', `/api/users/${id}/invitations`, { token });
const show = async (id: number, token = reader.key) =>
  (await api('GET', `/api/users/${id}`, { token })).body;
const storedUser = async (id: number) => {
  const get = { TableName: environment.USERS_TABLE, Key: { pk: `user#${id}` } };
  return (await engine.send(new GetCommand({ ...get, ConsistentRead: true }))).Item;
};
const password = 'pass-word-1';

describe('A machine with the scope `users:write`', () => {
  it('creates a user whose address is not verified, and whose maker it is not', async () => {
    const email = uniqueEmail();

    const { status, body } = await create({ email, password, attributes: { plan: 'pro' } });

    expect([status, body.email_verified, body.attributes]).toEqual([201, false, { plan: 'pro' }]);
    expect(await storedUser(body.id)).not.toHaveProperty('made_by');
    expect(await logIn(api, { email, password })).toBeTypeOf('string');
  });

  it('is told that an address is taken', async () => {
    const { email } = await register(api);

    expect(outcome(await create({ email, password }))).toEqual(
      refusal(409, 'Email already registered'),
    );
  });

  it('invites a user, at once and again, who then chooses the password', async () => {
    stopClock();
    const email = uniqueEmail();
    const { status, body } = await create({ email, invite: true });
    const [mail] = await mailbox.mailsTo(email, 1);
    const link = mail ? tokenIn(mail) : '';

    // The address was just mailed: the limit of the address is reported, as it is to an admin.
    expect([status, (await invite(body.id)).status]).toEqual([201, 429]);
    const json = { token: link, password };
    expect((await api('PUT', '/api/password-resets', { json })).status).toBe(204);
    expect(outcome(await invite(body.id))).toEqual(refusal(409, 'Already has a way in'));
    expect((await show(body.id)).email_verified).toBe(true);
  });

  it('makes nobody an admin or an auditor', async () => {
    const email = uniqueEmail();
    const { id } = await register(api);

    expect(outcome(await create({ email, password, role: 'admin' }))).toEqual(forbidden);
    expect(outcome(await change(id, { role: 'admin' }))).toEqual(forbidden);
    expect(outcome(await change(id, { auditor: true }))).toEqual(forbidden);
  });

  it('changes the name and the attributes of a user, and its response shows them', async () => {
    const { id } = await register(api);

    const { status, body } = await change(id, {
      name: 'Grace',
      attributes: { plan: 'pro', locale: 'de' },
    });

    expect(status).toBe(200);
    expect(body).toMatchObject({ name: 'Grace', attributes: { plan: 'pro', locale: 'de' } });
    expect(await show(id)).toMatchObject({ name: 'Grace', attributes: { plan: 'pro' } });
  });

  it.each([
    { role: 'user' },
    { password },
    { email: 'other@example.org' },
    { auditor: false },
    { name: 'Grace', password },
    { name: 'Grace', currentPassword: 'x', email: 'other@example.org' },
  ])('is refused a change with %j', async (json) => {
    const user = await register(api);

    expect(outcome(await change(user.id, json))).toEqual(forbidden);
    expect((await show(user.id)).name).toBe(user.name);
  });

  it('changes no admin and no auditor', async () => {
    const auditor = await appoint(api, adminToken, await register(api));
    const admin = await register(api);
    await promote(api, adminToken, admin);

    for (const { id } of [auditor, admin]) {
      expect(outcome(await change(id, { name: 'Grace' }))).toEqual(forbidden);
    }
  });

  it('is told that there is no such user', async () => {
    expect(outcome(await change(999_999, { name: 'n' }))).toEqual(refusal(404, 'User not found'));
  });

  it('reads no users', async () => {
    const { id } = await register(api);

    expect(outcome(await api('GET', `/api/users/${id}`, { token: writer.key }))).toEqual(forbidden);
    expect(outcome(await api('GET', '/api/users', { token: writer.key }))).toEqual(forbidden);
  });
});

describe('A machine with the scope `users:read`', () => {
  it('reads users as an auditor does, also where accounts are private', async () => {
    const auditor = await appoint(api, adminToken, await register(api));
    const user = await register(api);
    await markVerified(environment, user.id);
    await change(user.id, { attributes: { locale: 'de' } }, adminToken);
    await api('PUT', `/api/users/${user.id}/suspension`, { token: adminToken });
    const seenBy = async (token: string) => [
      await show(user.id, token),
      (await api('GET', `/api/users?search=${user.email}`, { token })).body,
      (await api('GET', `/api/users?attributes=true&order=desc&limit=1`, { token })).body,
    ];

    const seen = await seenBy(reader.key);

    expect(seen).toEqual(await seenBy(auditor.token));
    expect(seen[0]).toMatchObject({ suspended_at: expect.any(String), auditor: false });
    expect(await listUsers(api, reader.key)).toEqual(await listUsers(api, auditor.token));
  });

  it('creates, invites and changes nobody', async () => {
    const { id } = await register(api);
    const json = { email: uniqueEmail(), password };

    expect(outcome(await create(json, reader.key))).toEqual(forbidden);
    expect(outcome(await change(id, { name: 'n' }, reader.key))).toEqual(forbidden);
    expect(outcome(await invite(id, reader.key))).toEqual(forbidden);
  });
});

describe('The mails that a machine causes', () => {
  it('are counted for the machine, and not for its address', async () => {
    const machine = await makeMachine(api, adminToken, ['users:write']);
    await create({ email: uniqueEmail(), invite: true }, machine.key);

    const { Items = [] } = await engine.send(
      new ScanCommand({
        TableName: environment.USERS_TABLE,
        FilterExpression: 'begins_with(pk, :counts)',
        ExpressionAttributeValues: { ':counts': `attempts#mail#machine#${machine.id}#` },
      }),
    );

    expect(Items.map(({ mails }) => mails)).toEqual([1]);
  });
});

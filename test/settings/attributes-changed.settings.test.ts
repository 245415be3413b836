/** Other declarations of attributes on the same data: a change of settings deletes nothing. */
import { randomUUID } from 'node:crypto';
import { decodeJwt } from 'jose';
import { expect, it, onTestFinished } from 'vitest';
import { entriesOf, outcome, refusal, uniqueAgent } from '../support/acceptance.ts';
import { logIn, register } from '../support/client.ts';
import { folderForThisFile } from '../support/folder.ts';
import { startTestService } from '../support/service.ts';

const place = {
  DATA_DIR: folderForThisFile(),
  USERS_TABLE: `users-${randomUUID()}`,
  AUDIT_TABLE: `audit-${randomUUID()}`,
};
const plan = { name: 'plan', type: 'choice', choices: ['free', 'pro'], token: true };
const seats = { name: 'seats', type: 'number', token: true };
const note = { name: 'note', type: 'text', writer: 'user' };
const first = [plan, seats, note];
/** Another choice, another type, one attribute removed, and one added. */
const second = [
  { ...plan, choices: ['gold'] },
  { ...seats, type: 'boolean' },
  { name: 'locale', type: 'text', writer: 'user' },
];

/** Starts the service with declarations of attributes, on the same data each time. */
const withAttributes = async (list: readonly object[]) => {
  const USER_ATTRIBUTES = list.length > 0 ? JSON.stringify(list) : '';
  const service = await startTestService({ ...place, USER_ATTRIBUTES });
  return { ...service, adminToken: await logIn(service.api, service.admin) };
};

it('Attributes that do not fit new declarations are hidden and kept until the first ones return', async () => {
  let service = await withAttributes(first);
  onTestFinished(() => service.stop());
  const user = await register(service.api);
  const path = `/api/users/${user.id}`;
  const put = (attributes: object, token = service.adminToken, headers = {}) =>
    service.api('PUT', path, { token, json: { attributes }, headers });
  const shown = async () =>
    (await service.api('GET', path, { token: service.adminToken })).body.attributes;
  const claims = async () => {
    const all = Object.entries(decodeJwt(await logIn(service.api, user)));
    return Object.fromEntries(all.filter(([name]) => name.startsWith('attr:')));
  };
  const restartWith = async (list: readonly object[]) => {
    await service.stop();
    service = await withAttributes(list);
  };
  await put({ plan: 'pro', seats: 3, note: 'x' });
  const claimed = { 'attr:plan': 'pro', 'attr:seats': 3 };
  expect([await shown(), await claims()]).toEqual([{ plan: 'pro', seats: 3, note: 'x' }, claimed]);

  await restartWith(second);
  expect([await shown(), await claims()]).toEqual([{}, {}]);
  expect((await put({ locale: 'de' })).body.attributes).toEqual({ locale: 'de' });
  expect(outcome(await put({ note: 'y' }))).toEqual(
    refusal(400, 'attributes.note is not declared'),
  );
  expect(outcome(await put({ note: null }, user.token))).toEqual(
    refusal(400, 'attributes.note is not declared'),
  );

  const agent = uniqueAgent();
  expect((await put({ note: null }, service.adminToken, { 'user-agent': agent })).status).toBe(200);
  const [entry] = await entriesOf(service, agent);
  expect(entry?.details).toBe('{"fields":["attributes.note"]}');

  await restartWith([]);
  expect([await shown(), await claims()]).toEqual([undefined, {}]);
  expect(outcome(await put({ plan: 'free' }))).toEqual(refusal(400, 'No fields to update'));
  const ignored = '/api/users?attributes=yes&limit=101';
  expect((await service.api('GET', ignored, { token: user.token })).status).toBe(200);

  await restartWith(first);
  expect([await shown(), await claims()]).toEqual([{ plan: 'pro', seats: 3 }, claimed]);
});

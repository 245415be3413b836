/** A passkey that version 1.0.0 has stored, without the domain for which it was made. */
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { type ApiClient, logIn } from '../../support/client.ts';
import { folderForThisFile } from '../../support/folder.ts';
import { newPasskey, passkeyClient, passkeySettings, rpId } from '../../support/passkeys.ts';
import { startTestService } from '../../support/service.ts';
import { load, readFixture, readItems } from './fixture.ts';
import { makePlace, setClock } from './service.ts';

const { known, ...fixture } = readFixture('1.0.0');
const { user, passkey: stored } = known['a passkey, and the sessions that it began'];
const passkey = newPasskey({ known: stored });
setClock(known.time);
const place = await makePlace(join(folderForThisFile(), 'data'));
await load(fixture, place);

const start = async (PASSKEYS: string) => {
  const settings = { ...passkeySettings, ...place.tables, PASSKEYS };
  const { api, stop } = await startTestService(settings);
  afterAll(stop);
  return api;
};
const same = await start(passkeySettings.PASSKEYS);
const other = await start('{"rpId":"example.org","origins":["https://app.example.org"]}');

const storedUser = async () =>
  (await readItems(place)).users.find(({ pk }) => pk?.S === `user#${user.id}`);
const domainsBy = async (api: ApiClient) =>
  (await passkeyClient(api).list(await logIn(api, user))).body.data.map(
    (each: { rp_id: string }) => each.rp_id,
  );
const signIn = async (api: ApiClient, counter: number) =>
  (await passkeyClient(api).signIn(passkey, { counter })).status;

it('A passkey from 1.0.0 belongs to the present domain until a login proves and stores its domain once', async () => {
  const unknown = [await domainsBy(same), await domainsBy(other)];
  const refused = await signIn(other, 6);
  const before = await storedUser();
  const first = await signIn(same, 6);
  const noted = await storedUser();
  const second = await signIn(same, 7);
  const later = await storedUser();

  expect(unknown).toEqual([[rpId], ['example.org']]);
  expect([refused, first, second]).toEqual([401, 200, 200]);
  expect(before?.passkeys?.L?.[0]?.M).not.toHaveProperty('rp_id');
  expect(noted?.passkeys?.L?.[0]?.M?.rp_id).toEqual({ S: rpId });
  expect(later).toEqual(noted);
  expect([await domainsBy(same), await domainsBy(other)]).toEqual([[rpId], [rpId]]);
});

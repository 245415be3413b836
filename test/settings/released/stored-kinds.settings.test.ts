/**
 * Data that are stored while every option is on are found again after all options were off. `npm run fixture` writes
 * the data into a folder with the version's name, where later versions find them (released.settings.test.ts).
 */
import { cpSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { register } from '../../support/client.ts';
import { folderForThisFile } from '../../support/folder.ts';
import { formOf, readFixture, readItems, sealInto, versions, writeFixture } from './fixture.ts';
import { overview } from './overview.ts';
import { begin, makePlace, setClock, startOn } from './service.ts';
import { kept } from './stored-kinds.ts';

setClock(begin);
const folder = folderForThisFile();
const place = await makePlace(join(folder, 'data'));

/** Stores data of every kind. @returns what users know about these data, and the time */
const storeAll = async () => {
  const known: Record<string, unknown> = {};
  const byDefault = await startOn(place, 'off');
  known.byDefault = await register(byDefault.api, { email: 'Straße@example.org' });
  const { email } = await register(byDefault.api);
  await byDefault.stop();
  const service = await startOn(place);
  expect((await service.operate(['verify-email', email])).status).toBe(0);
  for (const [name, { store }] of Object.entries(kept)) known[name] = await store(service);
  known.overview = await overview.store(service);
  await service.stop();
  return { ...known, time: Date.now() };
};

const known: Readonly<Record<string, unknown>> = await storeAll();
const data = join(folder, 'sealed');
mkdirSync(data);
const sealed = await sealInto(data, place);
const items = await readItems(place);

const { FIXTURE } = process.env;

it.runIf(FIXTURE)(
  'npm run fixture writes the data of this version as its fixture, or into a named folder',
  () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
    for (const name of ['jwt-secret.json', 'second-factor.key', 'token-key-first']) {
      cpSync(join(place.folder, name), join(data, name));
    }
    writeFixture(FIXTURE === 'write' ? version : String(FIXTURE), {
      items,
      known: { ...known, sealed },
      data,
    });
  },
);

it.each(versions)(
  'This version still stores all data that %s stored, in the same form',
  (older) => {
    const form = formOf(items);

    expect(formOf(readFixture(older).items).filter((each) => !form.includes(each))).toEqual([]);
  },
);

describe('Where every option was turned off and on again', async () => {
  const off = await startOn(place, 'off');
  // Changes of users do not affect data of options that are off.
  const { body: users } = await off.api('GET', '/api/users', { token: off.adminToken });
  for (const { id } of users) {
    const json = { name: 'Meanwhile' };
    const { status } = await off.api('PUT', `/api/users/${id}`, { token: off.adminToken, json });
    expect(status).toBe(200);
  }
  await off.stop();
  const service = await startOn(place);
  afterAll(() => service.stop());

  it.each(Object.entries(kept))('there is still %s', async (name, { find }) => {
    // biome-ignore lint/suspicious/noExplicitAny: each row has a type of its own
    await find(service, known[name] as any);
  });
});

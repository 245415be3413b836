/** What is stored while every option is on is found again after all of them were off. */
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { folderForThisFile } from '../../support/folder.ts';
import { kept } from './kept.ts';
import { begin, makePlace, setClock, startOn } from './service.ts';

setClock(begin);
const place = await makePlace(join(folderForThisFile(), 'data'));

/** Has everything stored that there is. @returns what its users know of it */
const storeAll = async () => {
  const known: Record<string, unknown> = {};
  const service = await startOn(place);
  for (const [name, { store }] of Object.entries(kept)) known[name] = await store(service);
  await service.stop();
  return known;
};

const known: Readonly<Record<string, unknown>> = await storeAll();

describe('Where every option was turned off and on again', async () => {
  const off = await startOn(place, 'off');
  // Whoever changes users meanwhile leaves alone what is not known there.
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

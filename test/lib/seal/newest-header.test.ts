import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { expect, inject, it } from 'vitest';
import { localSigner, makeKey } from '../../../lib/seal/folder-archive.ts';
import * as shownHeader from '../../../lib/seal/newest-header.ts';
import { useOwnTables } from '../../support/own-tables.ts';
import { makeTrail } from '../../support/sealed-trail.ts';
import { engineClient } from '../../support/stored-items.ts';

const { users } = await useOwnTables();
const trail = makeTrail();
const { publicKey } = trail.signer;

it('The newest header is shown as it was signed, and a header that the key has not signed is not shown', async () => {
  expect(await shownHeader.read(publicKey)).toBeUndefined();

  await shownHeader.write((await trail.seal()).line);
  const newest = await trail.seal(60_000);
  await shownHeader.write(newest.line);

  expect(await shownHeader.read(publicKey)).toEqual(newest);
  expect(await shownHeader.read(localSigner(makeKey()).publicKey)).toBeUndefined();
  const header = newest.line.replace('"count":0', '"count":1');
  await engineClient(inject('engine')).send(
    new PutCommand({ TableName: users, Item: { pk: 'audit-seal', header } }),
  );
  expect(await shownHeader.read(publicKey)).toBeUndefined();
});

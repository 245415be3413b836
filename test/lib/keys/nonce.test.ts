import { expect, inject, it } from 'vitest';
import { useNonce } from '../../../lib/keys/nonce.ts';
import { useOwnTables } from '../../support/own-tables.ts';
import { scan } from '../../support/stored-items.ts';

it('A used nonce is stored for an hour, so that it cannot be used again while it is valid', async () => {
  const { users } = await useOwnTables();
  const now = new Date('2026-11-22T12:00:00.000Z');

  await useNonce('a nonce', new Error('used'), now);

  const until = Date.parse('2026-11-22T13:00:00.000Z') / 1000;
  expect(await scan(inject('engine'), users)).toMatchObject([{ expires_at: until }]);
});

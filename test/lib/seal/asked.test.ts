import { expect, it } from 'vitest';
import * as asked from '../../../lib/seal/asked.ts';
import { useOwnTables } from '../../support/own-tables.ts';

await useOwnTables();

it('One mark asks for a check until it is removed, by whoever has read it', async () => {
  expect(await asked.read()).toBeUndefined();

  expect([await asked.leave(), await asked.leave()]).toEqual([true, false]);
  const mark = (await asked.read()) ?? '';
  await asked.remove('another');
  expect(await asked.read()).toBe(mark);
  await asked.remove(mark);

  expect(await asked.read()).toBeUndefined();
  await asked.remove(mark);
  expect(await asked.leave()).toBe(true);
});

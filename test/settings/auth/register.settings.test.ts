import { describe, expect, inject, it } from 'vitest';
import { handler } from '../../../functions/auth/register.ts';
import { uniqueEmail } from '../../support/client.ts';
import { mailingFunctionForThisFile } from '../../support/mailbox.ts';
import { scan } from '../../support/stored-items.ts';
import { verificationSettings } from '../../support/verification.ts';
import { invoke } from '../invoke.ts';

const { proxy, tables } = await mailingFunctionForThisFile(({ handOver }) => ({
  ...verificationSettings.required,
  ...handOver,
  ACCOUNTS: 'private',
  JWT_SECRET: 'x'.repeat(40),
  BCRYPT_COST: '4',
}));

describe('A registration where nobody may know who has an account', () => {
  it('sends the store the same requests, and writes the same number of items, for a free address and for a taken one', async () => {
    const email = uniqueEmail();
    const register = async () => {
      const before = (await scan(inject('engine'), tables.users)).length;
      proxy.forget();
      const [status] = await invoke(handler, { json: { name: 'Ada', email, password: 'long' } });
      const asked = proxy.requests.map(({ operation, writes }) => `${operation} ${writes}`);
      const after = (await scan(inject('engine'), tables.users)).length;
      return [status, asked, after - before];
    };
    await invoke(handler, { json: { name: 'Ada', email: uniqueEmail(), password: 'long' } });

    const [free, taken] = [await register(), await register()];

    expect(taken).toEqual(free);
    expect(free).toEqual([201, expect.any(Array), 2]);
  });
});

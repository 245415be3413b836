import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { expect, it } from 'vitest';
import { send } from '../../../../lib/dynamodb/client.ts';
import { itemKey } from '../../../../lib/dynamodb/tables.ts';
import {
  makePasskey,
  noteLogin,
  passkeysInForce,
} from '../../../../lib/options/passkeys/passkeys.ts';
import { proxiedTablesForThisFile } from '../../../support/own-tables.ts';
import { faults } from '../../../support/proxy.ts';
import { storedUser } from '../../../support/stored-user.ts';

const { proxy, users: TableName } = await proxiedTablesForThisFile();

it('A login by a passkey that another login may have overtaken is a fault of the store', async () => {
  const user = storedUser({ id: 1 });
  const credential = { credential_id: 'one', counter: 5, backed_up: false };
  const stored = { user_id: user.id, counter: 5, last_used_at: '2026-11-22T12:00:00.000Z' };
  await send(new PutCommand({ TableName, Item: { ...itemKey('passkey#*', 'one'), ...stored } }));
  proxy.impose({ fault: faults.internalError, operation: 'UpdateItem', times: 1 });

  const noted = noteLogin(user, credential);

  await expect(noted).rejects.toMatchObject({ code: 'STORAGE_FAULT', mayHaveHappened: true });
});

it('A user has no passkey in force while PASSKEYS is not set', () => {
  const passkeys = [makePasskey({ credential_id: 'one' }, 'Phone', 'example.com')];

  expect(passkeysInForce(storedUser({ id: 1, passkeys }))).toEqual([]);
});

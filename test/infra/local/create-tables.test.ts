import { randomUUID } from 'node:crypto';
import { DescribeTimeToLiveCommand, UpdateTimeToLiveCommand } from '@aws-sdk/client-dynamodb';
import { describe, expect, inject, it } from 'vitest';
import { createTables } from '../../../infra/local/create-tables.ts';
import { useOwnTables } from '../../support/own-tables.ts';
import { engineClient } from '../../support/stored-items.ts';

describe('createTables', () => {
  const client = engineClient(inject('engine'));
  const timeToLive = async (TableName: string) => {
    const described = await client.send(new DescribeTimeToLiveCommand({ TableName }));
    const { TimeToLiveStatus, AttributeName } = described.TimeToLiveDescription ?? {};
    return [TimeToLiveStatus, AttributeName];
  };

  it('tells the engine to delete expired items', async () => {
    const { users, audit } = await useOwnTables();

    expect(await timeToLive(users)).toEqual(['ENABLED', 'expires_at']);
    expect(await timeToLive(audit)).toEqual(['ENABLED', 'expires_at']);
  });

  it('turns a missing time to live on, and leaves one that is on as it is', async () => {
    const names = { users: `users-${randomUUID()}`, audit: `audit-${randomUUID()}` };
    await useOwnTables();
    await createTables(inject('engine'), names);
    await client.send(
      new UpdateTimeToLiveCommand({
        TableName: names.users,
        TimeToLiveSpecification: { AttributeName: 'expires_at', Enabled: false },
      }),
    );

    await createTables(inject('engine'), names);
    await createTables(inject('engine'), names);

    expect(await timeToLive(names.users)).toEqual(['ENABLED', 'expires_at']);
  });

  it.each([
    ['users', 'audit', 'admins'],
    ['audit', 'users', 'by_user_id'],
  ] as const)(
    'refuses in one sentence a table of %s that lacks an index',
    async (one, other, index) => {
      const names = await useOwnTables();
      const TableName = names[other];

      await expect(createTables(inject('engine'), { ...names, [one]: TableName })).rejects.toThrow(
        `The table ${TableName} lacks the index ${index}, because another version of the service created it: delete the data, or set DATA_DIR to another folder.`,
      );
    },
  );
});

import { randomUUID } from 'node:crypto';
import {
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  UpdateTableCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { describe, expect, inject, it, vi } from 'vitest';
import { createTables } from '../../../infra/local/create-tables.ts';
import { removeIndex, useOwnTables } from '../../support/own-tables.ts';
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

  describe.each([
    ['users', 'admins'],
    ['audit', 'by_user_id'],
  ] as const)('where the table of %s lacks the index %s,', (name, index) => {
    const indexOf = async (TableName: string) => {
      const { Table } = await client.send(new DescribeTableCommand({ TableName }));
      return Table?.GlobalSecondaryIndexes?.find(({ IndexName }) => IndexName === index);
    };
    const incomplete = async () => {
      const names = await useOwnTables();
      const complete = await indexOf(names[name]);
      await removeIndex(client, names[name], index);
      return { names, table: names[name], complete };
    };
    /** Without what counts its items. */
    const form = (described: Awaited<ReturnType<typeof indexOf>>) => [
      described?.KeySchema,
      described?.Projection?.ProjectionType,
      new Set(described?.Projection?.NonKeyAttributes),
      described?.IndexStatus,
    ];

    it('adds it once, at an engine of its own, and says so in a line', async () => {
      const { names, table, complete } = await incomplete();
      const said = vi.spyOn(console, 'log').mockReturnValue();

      for (let start = 0; start < 2; start += 1) {
        await createTables(inject('engine'), names, { isOwn: true });
      }

      const lines = said.mock.calls.map(([line]) => line);
      said.mockRestore();
      expect(lines).toEqual([
        `The table ${table} lacks the index ${index}, which this version needs: it is added before the service starts.`,
      ]);
      expect(form(await indexOf(table))).toEqual(form(complete));
    });

    it('refuses it at another engine, and names the command that adds it', async () => {
      const { names, table, complete } = await incomplete();

      const refused = createTables(inject('engine'), names);

      const { message } = await refused.then(
        () => expect.unreachable(),
        (error: Error) => error,
      );
      const [, said, command, input = ''] =
        /^(.*)\n(aws .*) --cli-input-json '(.*)'$/.exec(message) ?? [];
      expect(said).toBe(
        `The table ${table} lacks the index ${index}, which this version needs; the service adds none at an engine that it has not started, so add it by this command, and start again:`,
      );
      const url = inject('engine');
      expect(command).toBe(`aws dynamodb update-table --endpoint-url ${url} --region us-east-1`);
      await client.send(new UpdateTableCommand(JSON.parse(input)));
      await createTables(inject('engine'), names);
      expect(form(await indexOf(table))).toEqual(form(complete));
    });
  });
});

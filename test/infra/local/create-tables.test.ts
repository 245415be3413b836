import { randomUUID } from 'node:crypto';
import {
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  UpdateTableCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { createTables } from '../../../infra/local/create-tables.ts';
import { startEngine } from '../../../infra/local/engine.ts';
import { environmentDefaults } from '../../../infra/local-settings.ts';
import { createWithout, useOwnTables } from '../../support/own-tables.ts';
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

  it('turns a missing time to live on, and leaves an existing time to live as it is', async () => {
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
});

describe('createTables where a table lacks an index', async () => {
  const complete = { users: 'complete-users', audit: 'complete-audit' };
  const index = 'admins';
  // DynamoDB Local never completes an index once about eight of its tables have a time to live. The engine that all
  // tests share has more such tables.
  const { endpoint, stop } = await startEngine({ only: inject('engineName') });
  const client = engineClient(endpoint);
  beforeAll(async () => {
    for (const [name, value] of Object.entries(environmentDefaults)) vi.stubEnv(name, value);
    await createTables(endpoint, complete);
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await stop();
  });

  const incomplete = async () => {
    const users = `users-${randomUUID()}`;
    await createWithout(client, [index], { like: complete.users, TableName: users });
    return { ...complete, users };
  };
  /** The definition and the status of the index, without the number and the size of its items. */
  const indexOf = async (TableName: string) => {
    const { Table } = await client.send(new DescribeTableCommand({ TableName }));
    const found = Table?.GlobalSecondaryIndexes?.find(({ IndexName }) => IndexName === index);
    const { KeySchema, Projection, IndexStatus } = found ?? {};
    return { KeySchema, IndexStatus, include: new Set(Projection?.NonKeyAttributes) };
  };

  it('adds the index once at its own engine, and says so in one line', async () => {
    const names = await incomplete();
    const said = vi.spyOn(console, 'log').mockReturnValue();

    for (let start = 0; start < 2; start += 1) await createTables(endpoint, names, { isOwn: true });

    const lines = said.mock.calls.map(([line]) => line);
    said.mockRestore();
    expect(lines).toEqual([
      `The table ${names.users} lacks the index ${index}, which this version needs: it is added before the service starts.`,
    ]);
    expect(await indexOf(names.users)).toEqual(await indexOf(complete.users));
  });

  it('refuses the table at another engine, and prints the command that adds the index', async () => {
    const names = await incomplete();

    const refused = createTables(endpoint, names);

    const { message } = await refused.then(
      () => expect.unreachable(),
      (error: Error) => error,
    );
    const [, said, command, input = ''] =
      /^(.*)\n(aws .*) --cli-input-json '(.*)'$/.exec(message) ?? [];
    expect(said).toBe(
      `The table ${names.users} lacks the index ${index}, which this version needs; the service adds none at an engine that it has not started, so add it by this command, and start again:`,
    );
    expect(command).toBe(`aws dynamodb update-table --endpoint-url ${endpoint} --region us-east-1`);
    await client.send(new UpdateTableCommand(JSON.parse(input)));
    await createTables(endpoint, names);
    expect(await indexOf(names.users)).toEqual(await indexOf(complete.users));
  });
});

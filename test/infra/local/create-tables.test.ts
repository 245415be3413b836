import { randomUUID } from 'node:crypto';
import { DescribeTableCommand, UpdateTableCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { createTables } from '../../../infra/local/create-tables.ts';
import { environmentDefaults } from '../../../infra/local-settings.ts';
import { createWithout } from '../../support/own-tables.ts';
import { engineClient } from '../../support/stored-items.ts';

describe('createTables where a table lacks an index', () => {
  const complete = { users: `users-${randomUUID()}`, audit: `audit-${randomUUID()}` };
  const index = 'admins';
  const endpoint = inject('engine');
  const client = engineClient(endpoint);
  beforeAll(async () => {
    for (const [name, value] of Object.entries(environmentDefaults)) vi.stubEnv(name, value);
    await createTables(endpoint, complete);
  });
  afterAll(() => vi.unstubAllEnvs());

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

import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { inject, it, onTestFinished } from 'vitest';
import { folderForThisTest } from '../../support/folder.ts';
import { useOwnTables } from '../../support/own-tables.ts';
import { startTestService } from '../../support/service.ts';
import { engineClient, scan } from '../../support/stored-items.ts';
import { until } from '../../support/until.ts';

it('npm start removes expired counts, links and ended sessions from the users table', async () => {
  const folder = folderForThisTest();
  const { users: USERS_TABLE, audit: AUDIT_TABLE } = await useOwnTables();
  const now = Math.floor(Date.now() / 1000);
  const items = [
    { pk: 'attempts#account#1', expires_at: now - 1 },
    { pk: 'reset#1', expires_at: now - 3600 },
    { pk: 'sessions#7', expires_at: now - 40 * 86_400 },
    { pk: 'attempts#account#2', expires_at: now + 3600 },
    { pk: 'of somebody else', expires_at: 'some day' },
  ];
  const engine = engineClient(inject('engine'));
  for (const Item of items) await engine.send(new PutCommand({ TableName: USERS_TABLE, Item }));

  const service = await startTestService({
    DATA_DIR: folder,
    JWT_SECRET: '',
    USERS_TABLE,
    AUDIT_TABLE,
  });
  onTestFinished(service.stop);

  const keys = async () => (await scan(inject('engine'), USERS_TABLE)).map(({ pk }) => String(pk));
  const left = [
    'attempts#account#2',
    'audit-seal',
    'counter',
    'email#root@example.org',
    'of somebody else',
    'user#1',
  ];
  await until(async () => (await keys()).sort().join() === left.join());
});

/** The orders function of functions/client/README.md, as it is printed there, with a service and Secrets Manager. */
import { execFile } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { serviceForThisFile } from '../support/acceptance.ts';
import { modules } from '../support/application.ts';
import { startAws } from '../support/aws.ts';
import { register } from '../support/client.ts';
import { folderForThisTest } from '../support/folder.ts';
import { makeMachine } from '../support/machines.ts';
import { ordersFunction } from '../support/orders-function.ts';

const service = await serviceForThisFile({ MACHINES: 'on' });
const { api, adminToken } = service;

const arn = 'arn:aws:secretsmanager:eu-central-1:123456789012:secret:trail';

/** Secrets Manager with the key of a machine. @returns its URL */
const startSecrets = async (key: string): Promise<string> => {
  const { url, stop } = await startAws({
    operations: {
      GetSecretValue: ({ SecretId }) => (SecretId === arn ? { SecretString: key } : undefined),
    },
    faultOf: () => undefined,
  });
  onTestFinished(stop);
  return url;
};

/** Calls the function once, in a process of its own. @returns its response */
const call = async (event: object, environment: Readonly<Record<string, string>>) => {
  const folder = folderForThisTest();
  const entry = JSON.stringify(resolve('functions/client/server.ts'));
  const code = ordersFunction().replace("'accounts-client/server'", entry);
  writeFileSync(join(folder, 'orders.mjs'), code);
  symlinkSync(modules, join(folder, 'node_modules'));
  const script = `
    const { handler } = await import(${JSON.stringify(join(folder, 'orders.mjs'))});
    console.log(JSON.stringify(await handler(${JSON.stringify(event)})));`;
  const args = ['--input-type=module', '-e', script];
  const env = {
    ...process.env,
    ...{ AWS_REGION: 'eu-central-1', AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret' },
    ...environment,
  };
  const { stdout } = await promisify(execFile)(process.execPath, args, { env });
  return JSON.parse(stdout);
};

it('The orders function has thirty lines at most', () => {
  expect(ordersFunction().trimEnd().split('\n').length).toBeLessThanOrEqual(30);
});

it('The orders function writes each order into the audit trail before it returns', async () => {
  const machine = await makeMachine(api, adminToken, ['audit:write']);
  const { id: userId } = await register(api);
  const http = { sourceIp: '203.0.113.7', userAgent: 'Browser' };
  const authorizer = { jwt: { claims: { sub: String(userId) } } };
  const event = { body: '{"items":["pen","ink"]}', requestContext: { authorizer, http } };
  const { statusCode, body } = await call(event, {
    ACCOUNTS_URL: service.url,
    ACCOUNTS_TRAIL_KEY_ARN: arn,
    AWS_ENDPOINT_URL_SECRETS_MANAGER: await startSecrets(machine.key),
  });
  const order = JSON.parse(body);
  const path = '/api/admin/audit-logs?from=machines';
  const trail = await api('GET', path, { token: adminToken });

  expect([statusCode, order]).toMatchObject([201, { items: ['pen', 'ink'], userId }]);
  expect(trail.body.data).toMatchObject([
    {
      ...{ action: 'CREATE', resource: 'shop.orders', resource_id: order.id, result: 'SUCCESS' },
      ...{ user_id: userId, ip_address: '203.0.113.7', user_agent: 'Browser' },
      ...{ details: '{"items":2}', machine_id: machine.id, occurred_at: expect.any(String) },
    },
  ]);
});

/** A function of another stack's orders, which writes its trail into the trail of a service. */
import { join } from 'node:path';
import { build } from 'esbuild';
import { type Application, modules } from '../support/application.ts';
import { type Account, type ApiClient, logIn } from '../support/client.ts';
import { ordersFunction } from '../support/orders-function.ts';
import type { Admin } from './deployment.ts';
import type { Place } from './place.ts';
import { follow, linesWith } from './runbook.ts';
import { requireThat } from './step.ts';

const source = `
const { App, CfnOutput, Duration, Stack } = require('aws-cdk-lib');
const { Code, Function, Runtime } = require('aws-cdk-lib/aws-lambda');
const { Secret } = require('aws-cdk-lib/aws-secretsmanager');
const { Accounts } = require('accounts-service');

const stack = new Stack(new App(), 'Shop');
const customers = new Accounts(stack, 'Customers', { auditSeal: 'on', machines: 'on' });
new Accounts(stack, 'Staff', { v1Users: 'off', parameterName: '/shop/staff' });
const orders = new Function(stack, 'Orders', {
  runtime: Runtime.NODEJS_24_X,
  handler: 'index.handler',
  code: Code.fromAsset('orders'),
  timeout: Duration.minutes(1),
});
const secret = new Secret(stack, 'TrailKey');
customers.grantTrail(orders, secret);
new CfnOutput(stack, 'OrdersName', { value: orders.functionName });
new CfnOutput(stack, 'TrailKeyArn', { value: secret.secretArn });
`;

/** An application with two services in one stack, of which one records orders. */
export const shop: Application = { file: 'app.js', source, type: 'commonjs' };

/** Bundles the function of functions/client/README.md in the folder of the application. */
export const bundleOrders = (folder: string): Promise<unknown> =>
  build({
    stdin: { contents: ordersFunction(), resolveDir: folder, loader: 'js' },
    ...{ bundle: true, platform: 'node', format: 'cjs', target: 'node24' },
    nodePaths: [modules],
    outfile: join(folder, 'orders/index.js'),
  });

interface Shop {
  readonly place: Place;
  readonly api: ApiClient;
  /** The address by which the service is reached here. */
  readonly url: string;
  readonly outputs: Readonly<Record<string, string>>;
  /** The operator's command of the package, and the arguments that name the service. */
  readonly operator: string;
  readonly service: string;
}

/** Follows infra/runbooks.md, section Keys of machines, and then makes an order, whose entry must be in the trail. */
export const recordOrder = async (shop: Shop, admin: Admin, user: Account): Promise<void> => {
  const { place, api, url, outputs } = shop;
  const { OrdersName: FunctionName } = outputs;
  const lines = linesWith('Keys of machines', 'create-machine')
    .replace('SECRET=...', `SECRET=${outputs.TrailKeyArn}`)
    .replace('npm run --silent operator --', shop.operator)
    .replace('--stack accounts-production', shop.service);
  await follow(lines, place);
  const { Environment } = await place.call('lambda', 'get_function_configuration', {
    FunctionName,
  });
  const Variables = { ...Environment.Variables, ACCOUNTS_URL: url };
  await place.call('lambda', 'update_function_configuration', {
    ...{ FunctionName, Environment: { Variables } },
  });
  const requestContext = {
    authorizer: { jwt: { claims: { sub: String(user.id) } } },
    http: { sourceIp: '203.0.113.7', userAgent: 'shop' },
  };
  const event = { body: JSON.stringify({ items: ['tea', 'milk'] }), requestContext };
  const invocation = { FunctionName, Payload: JSON.stringify(event) };
  const { Payload } = await place.call('lambda', 'invoke', invocation);
  const { statusCode, body } = JSON.parse(Payload);
  requireThat(statusCode === 201, `The order was answered ${Payload}`);
  const token = await logIn(api, admin);
  const query = '/api/admin/audit-logs?resource=shop.orders';
  const { data } = (await api('GET', query, { token })).body;
  const { action, resource_id, user_id, machine_id, details } = data?.[0] ?? {};
  const recorded = [action, resource_id, user_id, machine_id, details];
  const wanted = ['CREATE', JSON.parse(body).id, user.id, 1, '{"items":2}'];
  requireThat(
    JSON.stringify(recorded) === JSON.stringify(wanted),
    `Not in the trail: ${JSON.stringify(wanted)}, but ${JSON.stringify(data)}`,
  );
};

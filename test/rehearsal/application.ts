import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { makeClientPackage } from '../../infra/package/client.ts';
import { makePackage } from '../../infra/package/make.ts';
import { makeApplication, synthesiseApplication } from '../support/application.ts';
import { register } from '../support/client.ts';
import { run } from './command.ts';
import { clientOf, type Deployment, requireData } from './deployment.ts';
import { bundleOrders, recordOrder, shop } from './orders.ts';
import type { Place } from './place.ts';
import type { Proof } from './proof.ts';
import { type Assembly, deploy, destroy, type Outputs } from './stack.ts';
import { requireThat } from './step.ts';
import { changeTemplate } from './template.ts';
import { temporaryFolder } from './workspace.ts';

/** The parameter of a service in the stack of the application. */
const parameter = '/accounts/Shop/Customers';

const readApiUrl = async ({ call }: Place): Promise<string> => {
  const { Parameter } = await call('ssm', 'get_parameter', { Name: parameter });
  return JSON.parse(Parameter.Value).ApiUrl;
};

const synthesise = async (place: Place, folder: string): Promise<Assembly> => {
  makeApplication(folder, shop, [await makePackage(folder), makeClientPackage(folder)]);
  await bundleOrders(folder);
  const { status, stderr, output } = synthesiseApplication(folder, shop.file);
  requireThat(status === 0, `The application was not synthesised:\n${stderr}`);
  changeTemplate(output, 'Shop', place.adapt);
  return { folder: output, stackName: 'Shop' };
};

const useService = async (place: Place, folder: string, outputs: Outputs): Promise<void> => {
  const edge = await place.openApi(await readApiUrl(place));
  const api = clientOf(edge.url);
  const user = await register(api);
  const admin = { email: 'root@example.org', password: `root-${randomUUID()}` };
  const operator = join(folder, 'node_modules/.bin/accounts-operator');
  const input = `${admin.password}\n`;
  const args = ['create-admin', admin.email, '--service', parameter];
  await run(operator, args, { env: place.env, input });
  await requireData({ api } as Deployment, admin, user);
  const service = `--service ${parameter}`;
  await recordOrder({ place, api, url: edge.url, outputs, operator, service }, admin, user);
  edge.stop();
};

/**
 * Installs the package in another application, uses one of the two services of its stack, and lets a function of the
 * stack write its trail into the trail of the service.
 */
export const rehearseApplication = async ({ place }: Proof): Promise<string> => {
  const folder = join(temporaryFolder, 'application');
  mkdirSync(folder);
  const assembly = await synthesise(place, folder);
  const { outputs } = await deploy(assembly, place);
  await useService(place, folder, outputs);
  await destroy(assembly, place);
  return 'registered, logged in, recorded an order, and read the trail';
};

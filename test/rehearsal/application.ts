import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { makePackage } from '../../infra/package/make.ts';
import { applications, makeApplication, synthesiseApplication } from '../support/application.ts';
import { register } from '../support/client.ts';
import { run } from './command.ts';
import { clientOf, type Deployment, requireData } from './deployment.ts';
import type { Place } from './place.ts';
import type { Proof } from './proof.ts';
import { type Assembly, deploy, destroy } from './stack.ts';
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
  const { file } = applications.commonJs;
  makeApplication(folder, applications.commonJs, await makePackage(folder));
  const { status, stderr, output } = synthesiseApplication(folder, file);
  requireThat(status === 0, `The application was not synthesised:\n${stderr}`);
  changeTemplate(output, 'Shop', place.adapt);
  return { folder: output, stackName: 'Shop' };
};

const useService = async (place: Place, folder: string): Promise<void> => {
  const edge = await place.openApi(await readApiUrl(place));
  const api = clientOf(edge.url);
  const user = await register(api);
  const admin = { email: 'root@example.org', password: `root-${randomUUID()}` };
  const command = join(folder, 'node_modules/.bin/accounts-operator');
  const input = `${admin.password}\n`;
  const args = ['create-admin', admin.email, '--service', parameter];
  await run(command, args, { env: place.env, input });
  await requireData({ api } as Deployment, admin, user);
  edge.stop();
};

/** Installs the package in another application, and uses one of the two services of its stack. */
export const rehearseApplication = async ({ place }: Proof): Promise<string> => {
  const folder = join(temporaryFolder, 'application');
  mkdirSync(folder);
  const shop = await synthesise(place, folder);
  await deploy(shop, place);
  await useService(place, folder);
  await destroy(shop, place);
  return 'registered, logged in, and read the trail';
};

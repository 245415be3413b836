import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { GetParameterCommand, SSMClient } from '@aws-sdk/client-ssm';
import { makePackage } from '../../infra/package/make.ts';
import { applications, makeApplication, synthesiseApplication } from '../support/application.ts';
import { apiClient, register } from '../support/client.ts';
import { run } from './command.ts';
import { type Deployment, requireData } from './deployment.ts';
import type { Emulator } from './emulator.ts';
import { startGatewayEdge } from './gateway-edge.ts';
import { type Assembly, deploy, destroy } from './stack.ts';
import { requireThat, step } from './step.ts';
import { adaptToEmulator, changeTemplate } from './template.ts';
import { credentials, region, temporaryFolder } from './workspace.ts';

/** The parameter of a service in the stack of the application. */
const parameter = '/accounts/Shop/Customers';

const readApiUrl = async ({ env }: Emulator): Promise<string> => {
  const client = new SSMClient({ region, endpoint: env.AWS_ENDPOINT_URL ?? '', credentials });
  const { Parameter } = await client.send(new GetParameterCommand({ Name: parameter }));
  client.destroy();
  return JSON.parse(Parameter?.Value ?? '{}').ApiUrl;
};

const synthesise = async (folder: string): Promise<Assembly> => {
  const { file } = applications.commonJs;
  makeApplication(folder, applications.commonJs, await makePackage(folder));
  const { status, stderr, output } = synthesiseApplication(folder, file);
  requireThat(status === 0, `The application was not synthesised:\n${stderr}`);
  changeTemplate(output, 'Shop', adaptToEmulator);
  return { folder: output, stackName: 'Shop' };
};

const useService = async (emulator: Emulator, folder: string): Promise<void> => {
  const edge = await startGatewayEdge(emulator.port, await readApiUrl(emulator));
  const api = apiClient(edge.url);
  const user = await register(api);
  const admin = { email: 'root@example.org', password: `root-${randomUUID()}` };
  const command = join(folder, 'node_modules/.bin/accounts-operator');
  const input = `${admin.password}\n`;
  const args = ['create-admin', admin.email, '--service', parameter];
  await run(command, args, { env: emulator.env, input });
  await requireData({ api } as Deployment, admin, user);
  edge.stop();
};

/** Has an application of others install the package, and uses one of the two services of its stack. */
export const rehearseApplication = async (emulator: Emulator): Promise<void> => {
  const folder = join(temporaryFolder, 'application');
  mkdirSync(folder);
  const shop = await step('Synthesise an application that has installed the package', () =>
    synthesise(folder),
  );
  await step('Deploy it', () => deploy(shop, emulator.env));
  await step('Register, log in and read the trail there', () => useService(emulator, folder));
  await destroy(shop, emulator.env);
};

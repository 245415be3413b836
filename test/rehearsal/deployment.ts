import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { type Account, apiClient, logIn } from '../support/client.ts';
import { patienceOf } from '../support/patience.ts';
import { run } from './command.ts';
import { type Emulator, pythonProgram } from './emulator.ts';
import { startGatewayEdge } from './gateway-edge.ts';
import { type Assembly, deploy } from './stack.ts';
import { requireThat } from './step.ts';
import { credentials, region, runFolder } from './workspace.ts';

export interface Admin {
  readonly email: string;
  readonly password: string;
}

/** The service as the stack's outputs lead to it. */
export type Deployment = Awaited<ReturnType<typeof openDeployment>>;

export const openDeployment = async (emulator: Emulator, assembly: Assembly) => {
  const { outputs } = await deploy(assembly, emulator.env);
  const { stackName } = assembly;
  const edge = await startGatewayEdge(emulator.port, outputs.ApiUrl ?? '');
  return { emulator, stackName, outputs, edge, api: apiClient(edge.url) };
};

/** Runs a command of the operator on the deployed stack. */
export const operate = (
  { emulator, stackName }: Deployment,
  args: readonly string[],
  input = '',
): Promise<string> => operateOn(emulator, [...args, '--stack', stackName], input);

/** Runs a command of the operator on what its arguments name. */
export const operateOn = (
  { env }: Emulator,
  args: readonly string[],
  input = '',
): Promise<string> => {
  const command = ['run', '--silent', 'operator', '--', ...args];
  // It remembers the newest file there.
  const state = { XDG_STATE_HOME: join(runFolder, 'operator') };
  return run('npm', command, {
    env: { ...env, ...state, ...patienceOf(10) },
    input,
  });
};

/** Creates the first administrator as an operator does: the password on standard input. */
export const createAdmin = async (deployment: Deployment): Promise<Admin> => {
  const admin = { email: 'root@example.org', password: `root-${randomUUID()}` };
  await operate(deployment, ['create-admin', admin.email], `${admin.password}\n`);
  return admin;
};

/** The value of the signing secret that is current. */
export const readSigningSecret = async ({ emulator, outputs }: Deployment): Promise<string> => {
  const endpoint = emulator.env.AWS_ENDPOINT_URL ?? '';
  const client = new SecretsManagerClient({ region, endpoint, credentials });
  const { SigningSecretArn } = outputs;
  const command = new GetSecretValueCommand({ SecretId: SigningSecretArn });
  const { SecretString = '' } = await client.send(command);
  client.destroy();
  requireThat(SecretString !== '', 'The signing secret has no value');
  return SecretString;
};

/** Logs a user in that was made before, and finds what was audited of it then and now. */
export const requireData = async (
  { api }: Deployment,
  admin: Admin,
  user: Account,
): Promise<void> => {
  await logIn(api, user);
  const token = await logIn(api, admin);
  const { body } = await api('GET', `/api/admin/audit-logs?userId=${user.id}`, { token });
  const actions = body.data.map(({ action }: { action: string }) => action).join(' ');
  requireThat(actions === 'LOGIN CREATE', `The audit trail of a user holds ${actions}`);
};

/** The name of everything in the account that a stack can leave behind. */
export const takeInventory = async ({ env }: Emulator): Promise<readonly string[]> => {
  const script = 'test/rehearsal/inventory.py';
  return JSON.parse(await run(pythonProgram('python'), [script], { env }));
};

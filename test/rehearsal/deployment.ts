import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { inventoryOf, textOf } from '../prove/inventory.ts';
import { type Account, type ApiClient, apiClient, logIn } from '../support/client.ts';
import { patienceOf } from '../support/patience.ts';
import { run } from './command.ts';
import type { Place } from './place.ts';
import { pythonProgram } from './python.ts';
import { type Assembly, deploy } from './stack.ts';
import { requireThat, saw } from './step.ts';
import { runFolder } from './workspace.ts';

export interface Admin {
  readonly email: string;
  readonly password: string;
}

/** The service at the address that the outputs of its stack name. */
export type Deployment = Awaited<ReturnType<typeof openDeployment>>;

export const openDeployment = async (place: Place, assembly: Assembly) => {
  const { outputs } = await deploy(assembly, place);
  const { stackName } = assembly;
  const edge = await place.openApi(outputs.ApiUrl ?? '');
  return { place, stackName, outputs, edge, api: clientOf(edge.url) };
};

/** Calls a deployed API, and notes the ids of its responses. */
export const clientOf = (url: string): ApiClient => {
  const api = apiClient(url);
  return async (...request) => {
    const answer = await api(...request);
    const id = answer.headers.get('apigw-requestid');
    if (id) saw(id);
    return answer;
  };
};

/** Runs a command of the operator on the deployed stack. */
export const operate = (
  { place, stackName }: Deployment,
  args: readonly string[],
  input = '',
): Promise<string> => operateOn(place, [...args, '--stack', stackName], input);

/** Runs a command of the operator on the resources that its arguments name. */
export const operateOn = ({ env }: Place, args: readonly string[], input = ''): Promise<string> => {
  const command = ['run', '--silent', 'operator', '--', ...args];
  // The command remembers the newest file in this folder.
  const state = { XDG_STATE_HOME: join(runFolder, 'operator') };
  return run('npm', command, {
    env: { ...env, ...state, ...patienceOf(10) },
    input,
  });
};

/** Creates the first administrator as an operator does, with the password on standard input. */
export const createAdmin = async (deployment: Deployment): Promise<Admin> => {
  const admin = { email: 'root@example.org', password: `root-${randomUUID()}` };
  await operate(deployment, ['create-admin', admin.email], `${admin.password}\n`);
  return admin;
};

/** The current value of the signing secret. */
export const readSigningSecret = async ({ place, outputs }: Deployment): Promise<string> => {
  const SecretId = outputs.SigningSecretArn;
  const { SecretString } = await place.call('secretsmanager', 'get_secret_value', { SecretId });
  requireThat(Boolean(SecretString), 'The signing secret has no value');
  return SecretString;
};

/** Logs in a user who was created before, and requires the user's earlier and new audit entries. */
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

/** The names of everything in the account that a stack can leave behind. */
export const takeInventory = async ({
  name,
  call,
  env,
  run: id = '',
}: Place): Promise<readonly string[]> => {
  if (name === 'AWS') {
    const items = await inventoryOf(call, id);
    // AWS still lists deleted items of other kinds for some minutes; --clean removes the log groups that Lambda makes.
    const isKnown = (text: string) => !/^(\S+ \S+ |log-group \/aws\/lambda\/)/.test(text);
    return items.map(textOf).filter(isKnown).sort();
  }
  const script = 'test/rehearsal/inventory.py';
  return JSON.parse(await run(pythonProgram('python'), [script], { env }));
};

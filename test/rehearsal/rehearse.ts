/**
 * `npm run rehearse`: deploys the service to an emulator of AWS on this machine, tests and operates
 * it there, and takes it down again.
 */
import { readFileSync } from 'node:fs';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { type Account, logIn, register } from '../client.ts';
import { endAll } from './command.ts';
import {
  type Admin,
  createAdmin,
  type Deployment,
  openDeployment,
  operate,
  readSigningSecret,
  takeInventory,
} from './deployment.ts';
import { certificateFile } from './edge.ts';
import { type Emulator, installEmulator, startEmulator } from './emulator.ts';
import { rotateInTraffic } from './rotation.ts';
import { bootstrap, deploy, destroy, requireNoDifference, synthesise, variant } from './stack.ts';
import { requireThat, step } from './step.ts';
import { requireSameTests, runSuite, type SuiteResult } from './suite.ts';
import { withoutTableAccess } from './template.ts';
import { emptyRunFolder, runFolder } from './workspace.ts';

/** Milliseconds for the whole of it, several times what it takes. */
const timeLimit = 30 * 60_000;

const testDeployed = async (deployment: Deployment, admin: Admin, local: SuiteResult) => {
  const env = {
    ...deployment.emulator.env,
    SERVICE_URL: deployment.edge.url,
    ADMIN_EMAIL: admin.email,
    ADMIN_PASSWORD: admin.password,
    JWT_SECRET: await readSigningSecret(deployment),
  };
  const deployed = await runSuite('tests-deployed', env);
  requireSameTests(local, deployed);
  return deployed;
};

/** Logs a user in that was made before, and finds what was audited of it then and now. */
const requireData = async ({ api }: Deployment, admin: Admin, user: Account): Promise<void> => {
  await logIn(api, user);
  const token = await logIn(api, admin);
  const { body } = await api('GET', `/api/admin/audit-logs?userId=${user.id}`, { token });
  const actions = body.data.map(({ action }: { action: string }) => action).join(' ');
  requireThat(actions === 'LOGIN CREATE', `The audit log of a user holds ${actions}`);
};

const redeploy = async (deployment: Deployment, admin: Admin): Promise<string> => {
  const { emulator, api } = deployment;
  await step('Deploy the unchanged stack, synthesised anew', async () => {
    const again = await synthesise('again');
    await requireNoDifference(again, emulator.env);
    const { printed } = await deploy(again, emulator.env);
    requireThat(printed.includes('(no changes)'), `cdk deploy printed:\n${printed}`);
  });

  const user = await register(api, { password: 'short' });
  const changed = await step('Deploy a changed stack and find the data intact', async () => {
    const assembly = await synthesise('changed', { passwordMinLength: 12 });
    await deploy(assembly, emulator.env);
    const refused = await api('POST', '/api/auth/register', { json: { ...user, password: 'no' } });
    requireThat(refused.status === 400, `A password too short was answered ${refused.status}`);
    await requireData(deployment, admin, user);
    return assembly;
  });

  await step('Take a permission from a function and see that it matters', async () => {
    const { token } = user;
    const before = await api('GET', '/api/profile', { token });
    await deploy(variant(changed, 'without', withoutTableAccess('Profile')), emulator.env);
    const after = await api('GET', '/api/profile', { token });
    const statuses = [before.status, after.status].join(' ');
    requireThat(statuses === '200 500', `GET /api/profile with and without it: ${statuses}`);
  });
  return changed;
};

const takeDown = async (emulator: Emulator, assembly: string, before: readonly string[]) => {
  const madeByStack = async () =>
    (await takeInventory(emulator)).filter((name) => !before.includes(name));
  const deployed = await madeByStack();
  await destroy(assembly, emulator.env);
  const left = await madeByStack();
  requireThat(left.length === 0, `Left behind: ${left.join(', ')}`);
  return deployed.length;
};

const rehearseOn = async (emulator: Emulator, local: SuiteResult): Promise<void> => {
  setDefaultCACertificates([...getCACertificates(), readFileSync(certificateFile, 'utf8')]);
  const first = await step('Synthesise the stack and bundle its functions', () =>
    synthesise('first'),
  );
  await step('Bootstrap the account', () => bootstrap(first, emulator.env));
  const before = await takeInventory(emulator);
  const deployment = await step(
    'Deploy',
    async () => openDeployment(emulator, (await deploy(first, emulator.env)).outputs),
    ({ outputs }) => outputs.ApiUrl ?? '',
  );
  const admin = await step('Create the first admin', () => createAdmin(emulator));
  await step(
    'Run the acceptance tests against the deployed service',
    () => testDeployed(deployment, admin, local),
    ({ passed, skipped }) => `${passed} passed, ${skipped} skipped, as locally`,
  );
  await step(
    'Rotate the signing secret in mid-traffic',
    () =>
      rotateInTraffic({
        api: deployment.api,
        admin,
        rotate: () => operate(emulator, ['rotate-secret']),
        readSecret: () => readSigningSecret(deployment),
      }),
    ({ requests, switchedAfter, tokens }) =>
      `${requests} requests, none refused; the new version signs after ${switchedAfter.toFixed(0)} s; ` +
      `${tokens.signedByOld} tokens of the old and ${tokens.signedByNew} of the new version in use`,
  );
  const assembly = await redeploy(deployment, admin);
  deployment.edge.stop();
  await step(
    'Destroy the stack and find nothing left',
    () => takeDown(emulator, assembly, before),
    (gone) => `${gone} resources were there, none is`,
  );
};

const rehearse = async (): Promise<void> => {
  emptyRunFolder();
  const local = await step(
    'Run the acceptance tests against the local service',
    () => runSuite('tests-acceptance', {}),
    ({ passed }) => `${passed} passed`,
  );
  await step('Install the emulator', installEmulator, (name) => name);
  const emulator = await step('Start the emulator', startEmulator);
  try {
    await rehearseOn(emulator, local);
  } finally {
    await emulator.stop();
  }
};

const giveUp = (reason: string): void => {
  console.error(`${reason}; logs are in ${runFolder}`);
  endAll();
  process.exit(1);
};

process.once('SIGINT', () => giveUp('Interrupted'));
process.once('SIGTERM', () => giveUp('Terminated'));
const timer = setTimeout(() => giveUp('Out of time'), timeLimit);
try {
  await step('Rehearsal of a deployment', rehearse);
} catch (error) {
  giveUp(error instanceof Error ? error.message : String(error));
}
clearTimeout(timer);

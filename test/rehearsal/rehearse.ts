/**
 * `npm run rehearse`: deploys the service to an emulator of AWS on this machine, tests and operates
 * it there, and takes it down again. `npm run rehearse -- long` also rotates the signing secret
 * under traffic, which takes as long as the new version needs to sign, and follows the runbooks with a
 * production stack.
 */
import { readFileSync } from 'node:fs';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { register } from '../support/client.ts';
import { rehearseApplication } from './application.ts';
import { checkDeployments } from './check.ts';
import { endAll } from './command.ts';
import {
  type Admin,
  createAdmin,
  type Deployment,
  openDeployment,
  operate,
  readSigningSecret,
  requireData,
  takeInventory,
} from './deployment.ts';
import { certificateFile } from './edge.ts';
import { type Emulator, installEmulator, startEmulator } from './emulator.ts';
import { rehearseReset } from './password-reset.ts';
import { rotateInTraffic } from './rotation.ts';
import { sealAndVerify } from './seal.ts';
import {
  type Assembly,
  bootstrap,
  deploy,
  destroy,
  development,
  requireNoDifference,
  synthesise,
  variant,
} from './stack.ts';
import { requireThat, step } from './step.ts';
import {
  readReport,
  requireSameTests,
  runConsoleTests,
  runSuite,
  type SuiteResult,
} from './suite.ts';
import { withoutTablePermissions, withVariable } from './template.ts';
import { keepAndTakeOver } from './undo.ts';
import { emptyRunFolder, isLong, runFolder } from './workspace.ts';

/** Milliseconds for the whole of it, several times what it takes. */
const timeLimit = 45 * 60_000;

const testDeployed = async (deployment: Deployment, admin: Admin, local: SuiteResult) => {
  const env = {
    ...deployment.emulator.env,
    SERVICE_URL: deployment.edge.url,
    ADMIN_EMAIL: admin.email,
    ADMIN_PASSWORD: admin.password,
    JWT_SECRET: await readSigningSecret(deployment),
  };
  await step(
    'Run the acceptance tests against the deployed service',
    async () => {
      const deployed = await runSuite('rehearsal', env);
      requireSameTests(local, deployed);
      return deployed;
    },
    ({ passed, skipped }) => `${passed} passed, ${skipped} skipped, as locally`,
  );
  await step(
    'Open the deployed console in a browser',
    () => runConsoleTests(env),
    (passed) => `${passed} passed`,
  );
};

const rotate = (deployment: Deployment, admin: Admin) =>
  step(
    'Rotate the signing secret under traffic',
    () =>
      rotateInTraffic({
        api: deployment.api,
        admin,
        rotate: () => operate(deployment, ['rotate-secret']),
        readSecret: () => readSigningSecret(deployment),
      }),
    ({ requests, switchedAfter, tokens }) =>
      `${requests} requests, none refused; the new version signs after ${switchedAfter.toFixed(0)} s; ` +
      `${tokens.signedByOld} tokens of the old and ${tokens.signedByNew} of the new version in use`,
  );

const redeploy = async (
  deployment: Deployment,
  deployed: Assembly,
  admin: Admin,
): Promise<Assembly> => {
  const { emulator, api } = deployment;
  await step('Deploy the unchanged stack, synthesised anew', async () => {
    const again = await synthesise('again', development);
    await requireNoDifference(again, emulator.env);
    const { printed } = await deploy(again, emulator.env);
    requireThat(printed.includes('(no changes)'), `cdk deploy printed:\n${printed}`);
  });

  const user = await register(api, { password: 'short' });
  const changed = await step('Deploy a changed stack and find the data intact', async () => {
    const assembly = variant(deployed, 'changed', withVariable('PASSWORD_MIN_LENGTH', '12'));
    await deploy(assembly, emulator.env);
    const refused = await api('POST', '/api/auth/register', { json: { ...user, password: 'no' } });
    requireThat(refused.status === 400, `A password too short was answered ${refused.status}`);
    await requireData(deployment, admin, user);
    return assembly;
  });

  await step('Take a permission from a function and see that it matters', async () => {
    const { token } = user;
    const before = await api('GET', '/api/profile', { token });
    await deploy(variant(changed, 'without', withoutTablePermissions('ProfileGet')), emulator.env);
    const after = await api('GET', '/api/profile', { token });
    const statuses = [before.status, after.status].join(' ');
    requireThat(statuses === '200 500', `GET /api/profile with and without it: ${statuses}`);
  });
  return changed;
};

const takeDown = async (emulator: Emulator, assembly: Assembly, before: readonly string[]) => {
  const madeByStack = async () =>
    (await takeInventory(emulator)).filter((name) => !before.includes(name));
  const deployed = await madeByStack();
  await destroy(assembly, emulator.env);
  const left = await madeByStack();
  requireThat(left.length === 0, `Left behind: ${left.join(', ')}`);
  return deployed.length;
};

const rehearseOn = async (
  emulator: Emulator,
  first: Assembly,
  local: SuiteResult,
): Promise<void> => {
  setDefaultCACertificates([...getCACertificates(), readFileSync(certificateFile, 'utf8')]);
  await step('Bootstrap the account', () => bootstrap(first, emulator.env));
  const before = await takeInventory(emulator);
  const deployment = await step(
    'Deploy',
    () => openDeployment(emulator, first),
    ({ outputs }) => outputs.ApiUrl ?? '',
  );
  const admin = await step('Create the first admin', () => createAdmin(deployment));
  await testDeployed(deployment, admin, local);
  await step('Seal the audit trail and verify it', () => sealAndVerify(deployment), String);
  if (isLong) await rotate(deployment, admin);
  const changed = await redeploy(deployment, first, admin);
  await step(
    'Check a deployment that dies at its start, lacks a setting or a table, and a good one',
    () => checkDeployments(deployment, changed),
    String,
  );
  const assembly = await rehearseReset(deployment, admin);
  deployment.edge.stop();
  await step(
    'Destroy the stack and find nothing left',
    () => takeDown(emulator, assembly, before),
    (gone) => `${gone} resources were there, none is`,
  );
  if (isLong) await keepAndTakeOver(emulator, before);
  await rehearseApplication(emulator);
};

const rehearse = async (): Promise<void> => {
  emptyRunFolder();
  const { LOCAL_REPORT } = process.env;
  const local = LOCAL_REPORT
    ? readReport(LOCAL_REPORT)
    : await step('Run the acceptance tests against the local service', () =>
        runSuite('tests-acceptance', {}),
      );
  const [first] = await step(
    'Synthesise the stack, bundle its functions, and install the emulator',
    () => Promise.all([synthesise('first', development), installEmulator()]),
    ([, name]) => name,
  );
  const emulator = await step('Start the emulator', startEmulator);
  try {
    await rehearseOn(emulator, first, local);
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

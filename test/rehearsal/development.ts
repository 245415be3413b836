/** The steps of a stack for development. */
import { register } from '../support/client.ts';
import { until } from '../support/until.ts';
import {
  createAdmin,
  type Deployment,
  openDeployment,
  operate,
  readSigningSecret,
  requireData,
  takeInventory,
} from './deployment.ts';
import type { Deployed, Part, Proof } from './proof.ts';
import { rotateInTraffic } from './rotation.ts';
import {
  bootstrap,
  deploy,
  destroy,
  development,
  requireNoDifference,
  synthesise,
  variant,
} from './stack.ts';
import { requireThat } from './step.ts';
import { readReport, requireSameTests, runConsoleTests, runSuite } from './suite.ts';
import { withoutTablePermissions, withVariable } from './template.ts';

/** Deploys the stack, and creates its first admin. */
export const deployDevelopment = async (proof: Proof): Promise<string> => {
  const { place } = proof;
  const assembly = await synthesise(place, 'first', development);
  if (place.name === 'the emulator') await bootstrap(assembly, place);
  await noteBefore(proof, 'development');
  const deployment = await openDeployment(place, assembly);
  const admin = await createAdmin(deployment);
  const user = await register(deployment.api);
  proof.development = { deployment, admin, user, assembly };
  return deployment.stackName;
};

/** Notes once in a run what was in the account before the stack of a part was made. */
export const noteBefore = async (proof: Proof, part: Part): Promise<void> => {
  proof.before[part] ??= await takeInventory(proof.place);
  proof.note?.();
};

/** @throws {Error} if its stack is not deployed */
export const developed = ({ development }: Proof): Deployed => {
  if (development) return development;
  throw new Error('The stack for development is not deployed');
};

/** The variables by which tests find the deployed service. */
const testing = async (deployment: Deployment, { admin }: Deployed) => ({
  ...deployment.place.env,
  SERVICE_URL: deployment.edge.url,
  ADMIN_EMAIL: admin.email,
  ADMIN_PASSWORD: admin.password,
  JWT_SECRET: await readSigningSecret(deployment),
});

/** Runs the acceptance tests against the deployed service: the same number must pass as against a local service. */
export const acceptDeployed = async (proof: Proof): Promise<string> => {
  const { LOCAL_REPORT } = process.env;
  const local = LOCAL_REPORT ? readReport(LOCAL_REPORT) : await runSuite('tests-acceptance', {});
  const made = developed(proof);
  const deployed = await runSuite('rehearsal', await testing(made.deployment, made));
  requireSameTests(local, deployed);
  return `${deployed.passed} passed, ${deployed.skipped} skipped, as locally`;
};

export const openConsole = async (proof: Proof): Promise<string> => {
  const made = developed(proof);
  return `${await runConsoleTests(await testing(made.deployment, made))} passed`;
};

export const rotateSecret = async (proof: Proof): Promise<string> => {
  const { deployment, admin } = developed(proof);
  const { requests, switchedAfter, tokens } = await rotateInTraffic({
    api: deployment.api,
    admin,
    rotate: () => operate(deployment, ['rotate-secret']),
    readSecret: () => readSigningSecret(deployment),
  });
  return (
    `${requests} requests, none refused; the new version signs after ${switchedAfter.toFixed(0)} s; ` +
    `${tokens.signedByOld} tokens of the old and ${tokens.signedByNew} of the new version in use`
  );
};

export const deployUnchanged = async ({ place }: Proof): Promise<undefined> => {
  const again = await synthesise(place, 'again', development);
  await requireNoDifference(again, place);
  const { printed } = await deploy(again, place);
  requireThat(printed.includes('(no changes)'), `cdk deploy printed:\n${printed}`);
};

/** Deploys a changed setting: the setting takes effect, and all data is still there. */
export const deployChanged = async (proof: Proof): Promise<undefined> => {
  const made = developed(proof);
  const { api } = made.deployment;
  const user = await register(api, { password: 'short' });
  const change = withVariable('PASSWORD_MIN_LENGTH', '12');
  made.assembly = variant(made.assembly, 'changed', change);
  await deploy(made.assembly, proof.place);
  const refused = await api('POST', '/api/auth/register', { json: { ...user, password: 'no' } });
  requireThat(refused.status === 400, `A password too short was answered ${refused.status}`);
  await requireData(made.deployment, made.admin, user);
};

/** Takes a permission from a function, which then fails: so it is the function's role that allows its calls. */
export const takePermission = async (proof: Proof): Promise<undefined> => {
  const { deployment, assembly, user } = developed(proof);
  const { token } = user;
  const get = async () => (await deployment.api('GET', '/api/profile', { token })).status;
  const before = await get();
  await deploy(variant(assembly, 'without', withoutTablePermissions('ProfileGet')), proof.place);
  const untaken = 'GET /api/profile works without its permissions';
  // AWS refuses within seconds.
  const after = await until(async () => ((await get()) === 500 ? 500 : false), untaken);
  requireThat(before === 200, `GET /api/profile with and without it: ${before} ${after}`);
  await deploy(assembly, proof.place);
};

/** Destroys the stack, of which nothing may be left. */
export const destroyDevelopment = async (proof: Proof): Promise<string> => {
  const { deployment, assembly } = developed(proof);
  const { place } = proof;
  const before = proof.before.development ?? [];
  const madeByStack = async () =>
    (await takeInventory(place)).filter((name) => !before.includes(name));
  const deployed = await madeByStack();
  deployment.edge.stop();
  await destroy(assembly, place);
  const left = await madeByStack();
  requireThat(left.length === 0, `Left behind: ${left.join(', ')}`);
  delete proof.development;
  return `${deployed.length} resources were there, none is`;
};

/** Makes a deployed stack seal its audit trail, verifies the trail, and tampers with it. */
import { setTimeout as wait } from 'node:timers/promises';
import { fileName } from '../../lib/seal/header.ts';
import { type Deployment, operate } from './deployment.ts';
import { type Assembly, deploy } from './stack.ts';
import { requireThat } from './step.ts';

const refusalOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    ({ message }: Error) => message,
  );

/** The bucket of the archive. */
const bucketOf = ({ outputs }: Deployment) => ({ Bucket: outputs.AuditArchiveBucketName });

/**
 * Locks objects as the template says, if CloudFormation has not: the CloudFormation of the emulator leaves the lock
 * out.
 * @returns what was done
 */
export const lockArchive = async (deployment: Deployment): Promise<string> => {
  const bucket = bucketOf(deployment);
  const { call } = deployment.place;
  const get = call('s3', 'get_object_lock_configuration', bucket);
  if (!/ObjectLockConfigurationNotFoundError/.test(await refusalOf(get))) return 'locked';
  const rule = { DefaultRetention: { Mode: 'COMPLIANCE', Days: 365 } };
  const ObjectLockConfiguration = { ObjectLockEnabled: 'Enabled', Rule: rule };
  await call('s3', 'put_object_lock_configuration', { ...bucket, ObjectLockConfiguration });
  return 'the emulator left the lock out, so it was set by the API of S3';
};

/** Waits until the next run seals everything that is recorded so far. */
const untilClosed = ({ place }: Deployment): Promise<void> => wait(place.sealInterval * 1000);

/** The physical name of a resource of the stack. */
export const resourceOf = async ({ place, stackName }: Deployment, type: string, id: string) => {
  const input = { StackName: stackName };
  const all = await place.call('cloudformation', 'list_stack_resources', input);
  const found = all.StackResourceSummaries.find(
    (each: { readonly ResourceType: string; readonly LogicalResourceId: string }) =>
      each.ResourceType === type && each.LogicalResourceId.startsWith(id),
  );
  requireThat(found !== undefined, `The stack ${stackName} has no ${type} ${id}`);
  return String(found.PhysicalResourceId);
};

/** Runs the sealer as its schedule does. */
const runSealer = async (deployment: Deployment): Promise<void> => {
  const FunctionName = await resourceOf(deployment, 'AWS::Lambda::Function', 'SealAudit');
  const { FunctionError } = await deployment.place.call('lambda', 'invoke', { FunctionName });
  requireThat(!FunctionError, 'The sealer failed: see place.log');
};

/** Verifies the trail by the operator's command. @returns how many files there are, with how many entries */
const verify = async (deployment: Deployment): Promise<string> => {
  const printed = await operate(deployment, ['verify-audit']);
  const [, verified = '', files = '0'] = /^Verified: ((\d+) file.*)$/m.exec(printed) ?? [];
  requireThat(Number(files) > 0 && /^Intact\.$/m.test(printed), `Verified: ${printed}`);
  return verified;
};

/** Makes the sealer seal everything that is recorded so far, and verifies it. @returns what was verified */
export const sealAndVerify = async (deployment: Deployment): Promise<string> => {
  await untilClosed(deployment);
  await runSealer(deployment);
  return verify(deployment);
};

/** Whether the schedule of the sealer runs it. */
export const stateOfSchedule = async (deployment: Deployment): Promise<string> => {
  const Name = await resourceOf(deployment, 'AWS::Events::Rule', 'SealAudit');
  return (await deployment.place.call('events', 'describe_rule', { Name })).State;
};

/** The stack as it is deployed, and the same stack with the seal paused. */
export interface SealStates {
  readonly on: Assembly;
  readonly paused: Assembly;
}

/**
 * Pauses the seal, lets something be recorded meanwhile, and resumes: the numbers of files are continued.
 * @returns what was verified in the end
 */
export const pauseAndResume = async (
  deployment: Deployment,
  { on, paused: pausing }: SealStates,
  record: () => Promise<unknown>,
): Promise<string> => {
  const { place } = deployment;
  const { outputs } = await deploy(pausing, place);
  const states = [await stateOfSchedule(deployment)];
  await record();
  const paused = await refusalOf(operate(deployment, ['verify-audit']));
  const waits = /CANNOT TELL: .*\d+ entries wait .* its seal is paused/s.test(paused);
  requireThat(waits && paused.includes(' ended with 2:'), `Verified while paused: ${paused}`);

  await deploy(on, place);
  states.push(await stateOfSchedule(deployment));
  const after = await sealAndVerify(deployment);

  requireThat(states.join() === 'DISABLED,ENABLED', `The schedule of the sealer: ${states.join()}`);
  for (const name of ['AuditArchiveBucketName', 'AuditSealKeyArn']) {
    requireThat(outputs[name] === deployment.outputs[name], `Pausing has changed ${name}`);
  }
  requireThat(Number.parseInt(after, 10) > 1, `Verified after the seal was resumed: ${after}`);
  return after;
};

/** Verifies a trail that is not intact, and requires the findings. */
const requireFound = async (deployment: Deployment, findings: readonly string[]): Promise<void> => {
  const printed = await refusalOf(operate(deployment, ['verify-audit']));
  const all = [...findings, ' ended with 1:'];
  const missing = all.filter((text) => !printed.includes(text));
  requireThat(missing.length === 0, `Not found: ${missing.join('; ')} in:\n${printed}`);
};

/** Changes an entry about one user and deletes an entry about another: only these two are found. Undoes both. */
export const tamperWithEntries = async (
  deployment: Deployment,
  [changed, deleted]: readonly [number, number],
): Promise<void> => {
  const { call } = deployment.place;
  const table = { TableName: deployment.outputs.AuditTableName };
  const { Items } = await call('dynamodb', 'scan', table);
  const entryOf = (user: number) =>
    Items.find(
      ({ user_id, action }: Record<string, { S?: string; N?: string }>) =>
        user_id?.N === String(user) && action?.S === 'CREATE',
    );
  const put = (Item: object) => call('dynamodb', 'put_item', { ...table, Item });
  const [old, recent] = [entryOf(changed), entryOf(deleted)];
  await put({ ...old, ip_address: { S: '192.0.2.66' } });
  await call('dynamodb', 'delete_item', { ...table, Key: { id: recent.id } });
  const findings = [`changed: ${old.id.N} `, `deleted: ${recent.id.N} `];
  await requireFound(deployment, [...findings, 'NOT INTACT: 2 findings']);
  await put(old);
  await put(recent);
};

/** Tries to delete the version of the first file, which its lock refuses. @returns the lock */
export const deleteLocked = async (deployment: Deployment): Promise<string> => {
  const { call } = deployment.place;
  const bucket = bucketOf(deployment);
  const { ObjectLockConfiguration: lock } = await call(
    's3',
    'get_object_lock_configuration',
    bucket,
  );
  const { Mode, Days } = lock.Rule.DefaultRetention;
  requireThat(Mode === 'COMPLIANCE' && Days === 1, `The lock is ${JSON.stringify(lock)}`);
  const object = { ...bucket, Key: `audit-archive/${fileName(1)}` };
  const { VersionId } = await call('s3', 'head_object', object);
  const version = { ...object, VersionId, BypassGovernanceRetention: true };
  const refusal = await refusalOf(call('s3', 'delete_object', version));
  requireThat(/object lock/i.test(refusal), `A locked version: ${refusal}`);
  return `${Mode}, ${Days} day`;
};

/** Deletes and overwrites the first file: both are found, and a locked version cannot be deleted. */
export const tamperWithArchive = async (
  deployment: Deployment,
  isLocked: boolean,
): Promise<string> => {
  const { call } = deployment.place;
  const name = fileName(1);
  const object = { ...bucketOf(deployment), Key: `audit-archive/${name}` };
  const { VersionId } = await call('s3', 'head_object', object);
  await call('s3', 'delete_object', object);
  await call('s3', 'put_object', { ...object, Body: '{"format":3}\n', IfNoneMatch: '*' });

  if (isLocked) {
    const version = { VersionId, BypassGovernanceRetention: true };
    const refusal = await refusalOf(call('s3', 'delete_object', { ...object, ...version }));
    requireThat(/object lock/i.test(refusal), `A locked version: ${refusal}`);
  }
  await requireFound(deployment, [`altered: file 1 (${name}) `, 'NOT INTACT: 1 finding']);
  return isLocked ? `${name} cannot be deleted` : `${name} was deleted, which was found`;
};

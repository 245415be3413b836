/** Has the audit trail of a deployed stack sealed and verified, and tampers with it. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileName } from '../../lib/seal/header.ts';
import { run } from './command.ts';
import { type Deployment, operate } from './deployment.ts';
import { pythonProgram } from './emulator.ts';
import { type Assembly, deploy } from './stack.ts';
import { requireThat } from './step.ts';
import { sealInterval } from './template.ts';
import { runFolder } from './workspace.ts';

/** Runs the command line of AWS. @returns what it prints, parsed */
export const aws = async ({ emulator: { env } }: Deployment, ...args: readonly string[]) => {
  const all = [...args, '--output', 'json'];
  const printed = await run(pythonProgram('aws'), all, { env });
  return printed && JSON.parse(printed);
};

const refusalOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    ({ message }: Error) => message,
  );

/** The archive's bucket, for the command line of AWS. */
const bucketOf = ({ outputs }: Deployment) => ['--bucket', outputs.AuditArchiveBucketName ?? ''];

/**
 * Locks objects as the template says, if CloudFormation has not: the emulator's leaves that out.
 * @returns what was done
 */
export const lockArchive = async (deployment: Deployment): Promise<string> => {
  const bucket = bucketOf(deployment);
  const get = aws(deployment, 's3api', 'get-object-lock-configuration', ...bucket);
  if (!/ObjectLockConfigurationNotFoundError/.test(await refusalOf(get))) return 'locked';
  const rule = { DefaultRetention: { Mode: 'COMPLIANCE', Days: 365 } };
  const lock = JSON.stringify({ ObjectLockEnabled: 'Enabled', Rule: rule });
  const args = [...bucket, '--object-lock-configuration', lock];
  await aws(deployment, 's3api', 'put-object-lock-configuration', ...args);
  return 'the emulator left the lock out, so it was set by the API of S3';
};

/** Waits until the next run seals all that is recorded so far. */
const untilClosed = (): Promise<void> => wait(Number(sealInterval) * 1000);

/** The name of the function that seals, for the command line of AWS. */
const findSealer = async (deployment: Deployment): Promise<readonly string[]> => {
  const query = ['--query', "Functions[?contains(FunctionName, 'SealAudit')].FunctionName"];
  const [sealer = ''] = await aws(deployment, 'lambda', 'list-functions', ...query);
  return ['--function-name', sealer];
};

/** Has the sealer run as its schedule does. */
const runSealer = async (deployment: Deployment): Promise<void> => {
  // It would be called once more if it were not waited for.
  const wait = ['--cli-read-timeout', '0'];
  const args = [...(await findSealer(deployment)), ...wait, join(runFolder, 'sealed.json')];
  const { FunctionError } = await aws(deployment, 'lambda', 'invoke', ...args);
  requireThat(!FunctionError, 'The sealer failed: see emulator.log');
};

/** Verifies by the operator's command. @returns how many files with how many entries there are */
const verify = async (deployment: Deployment): Promise<string> => {
  const printed = await operate(deployment, ['verify-audit']);
  const [, verified = '', files = '0'] = /^Verified: ((\d+) file.*)$/m.exec(printed) ?? [];
  requireThat(Number(files) > 0 && /^Intact\.$/m.test(printed), `Verified: ${printed}`);
  return verified;
};

/** Has all that is recorded so far sealed, and verifies it. @returns what was verified */
export const sealAndVerify = async (deployment: Deployment): Promise<string> => {
  await untilClosed();
  await runSealer(deployment);
  return verify(deployment);
};

/** Whether the schedule of the sealer runs it. */
export const stateOfSchedule = async (deployment: Deployment): Promise<string> => {
  const query = ['--query', "Rules[?contains(Name, 'SealAudit')].State"];
  return (await aws(deployment, 'events', 'list-rules', ...query)).join(' ');
};

/** The stack as it is deployed, and as it is with the seal paused. */
export interface SealStates {
  readonly on: Assembly;
  readonly paused: Assembly;
}

/**
 * Pauses the seal, has something recorded meanwhile, and resumes: the numbers of files go on.
 * @returns what was verified in the end
 */
export const pauseAndResume = async (
  deployment: Deployment,
  { on, paused: pausing }: SealStates,
  record: () => Promise<unknown>,
): Promise<string> => {
  const { env } = deployment.emulator;
  const { outputs } = await deploy(pausing, env);
  const states = [await stateOfSchedule(deployment)];
  await record();
  const paused = await refusalOf(operate(deployment, ['verify-audit']));
  const waits = /CANNOT TELL: .*\d+ entries wait .* its seal is paused/s.test(paused);
  requireThat(waits && paused.includes(' ended with 2:'), `Verified while paused: ${paused}`);

  await deploy(on, env);
  states.push(await stateOfSchedule(deployment));
  const after = await sealAndVerify(deployment);

  requireThat(states.join() === 'DISABLED,ENABLED', `The schedule of the sealer: ${states.join()}`);
  for (const name of ['AuditArchiveBucketName', 'AuditSealKeyArn']) {
    requireThat(outputs[name] === deployment.outputs[name], `Pausing has changed ${name}`);
  }
  requireThat(Number.parseInt(after, 10) > 1, `Verified after the seal was resumed: ${after}`);
  return after;
};

/** Verifies a trail that is not intact. */
const requireFound = async (deployment: Deployment, findings: readonly string[]): Promise<void> => {
  const printed = await refusalOf(operate(deployment, ['verify-audit']));
  const all = [...findings, ' ended with 1:'];
  const missing = all.filter((text) => !printed.includes(text));
  requireThat(missing.length === 0, `Not found: ${missing.join('; ')} in:\n${printed}`);
};

/** Changes an entry about one user and deletes one about another: both are found, and nothing else. Undoes both. */
export const tamperWithEntries = async (
  deployment: Deployment,
  [changed, deleted]: readonly [number, number],
): Promise<void> => {
  const table = ['--table-name', deployment.outputs.AuditTableName ?? ''];
  const { Items } = await aws(deployment, 'dynamodb', 'scan', ...table);
  const entryOf = (user: number) =>
    Items.find(
      ({ user_id, action }: Record<string, { S?: string; N?: string }>) =>
        user_id?.N === String(user) && action?.S === 'CREATE',
    );
  const put = (item: object) =>
    aws(deployment, 'dynamodb', 'put-item', ...table, '--item', JSON.stringify(item));
  const [old, recent] = [entryOf(changed), entryOf(deleted)];
  await put({ ...old, ip_address: { S: '192.0.2.66' } });
  const key = JSON.stringify({ id: recent.id });
  await aws(deployment, 'dynamodb', 'delete-item', ...table, '--key', key);
  const findings = [`changed: ${old.id.N} `, `deleted: ${recent.id.N} `];
  await requireFound(deployment, [...findings, 'NOT INTACT: 2 findings']);
  await put(old);
  await put(recent);
};

/** Deletes and overwrites the first file: it is found, and the sealed version cannot go. */
export const tamperWithArchive = async (deployment: Deployment): Promise<string> => {
  const [name, file] = [fileName(1), join(runFolder, 'forged.json')];
  const object = [...bucketOf(deployment), '--key', `audit-archive/${name}`];
  const { VersionId } = await aws(deployment, 's3api', 'head-object', ...object);
  writeFileSync(file, '{"format":3}\n');
  await aws(deployment, 's3api', 'delete-object', ...object);
  const once = ['--body', file, '--if-none-match', '*'];
  await aws(deployment, 's3api', 'put-object', ...object, ...once);

  const version = ['--version-id', VersionId, '--bypass-governance-retention'];
  const refusal = await refusalOf(aws(deployment, 's3api', 'delete-object', ...object, ...version));

  requireThat(/AccessDenied.*object lock/s.test(refusal), `A locked version: ${refusal}`);
  await requireFound(deployment, [`altered: file 1 (${name}) `, 'NOT INTACT: 1 finding']);
  return `${name} cannot be deleted`;
};

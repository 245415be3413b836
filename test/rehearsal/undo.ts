/** The steps of a stack for production. */
import { register } from '../support/client.ts';
import { makeTopic } from './alarm.ts';
import { createAdmin, openDeployment, takeInventory } from './deployment.ts';
import { noteBefore } from './development.ts';
import { putEventsAt, rehearseEvents } from './events.ts';
import type { Place } from './place.ts';
import { type Deployed, NotProved, type Proof } from './proof.ts';
import { noteRestored, replayArchive, restoreTables, takeOver } from './restore.ts';
import { follow, linesWith } from './runbook.ts';
import { deleteLocked, lockArchive, pauseAndResume, sealAndVerify } from './seal.ts';
import { type Assembly, destroy, synthesise, variant } from './stack.ts';
import { requireThat, step } from './step.ts';

/** The kinds of items that outlive a production stack, as the inventory names them. */
const data =
  /^(dynamodb TableNames|kms Keys|logs logGroups|s3 Buckets|secretsmanager SecretList|table|key|log-group|bucket|secret) /;

/** The items of the account that were not there before. */
const inventorySince = async (place: Place, before: readonly string[]) =>
  (await takeInventory(place)).filter((name) => !before.includes(name));

/** A password that is long enough for production. */
const password = 'of fifteen or more';

/** The settings of a production stack. */
const production = { name: 'production', events: 'on' };

/** Synthesises a stack of production; the emulator has no host of its own for EventBridge. */
const assemble = async (
  place: Place,
  name: string,
  settings: Readonly<Record<string, string | number>>,
): Promise<Assembly> => {
  const assembly = await synthesise(place, `${name}-synthesised`, settings);
  const { AWS_ENDPOINT_URL: endpoint } = place.env;
  return endpoint ? variant(assembly, name, putEventsAt(endpoint)) : assembly;
};

/** Deploys with the settings of production, and makes an admin and a user. */
export const deployProduction = async (proof: Proof): Promise<string> => {
  const { place } = proof;
  const alarms = place.run ? { alarmTopicArn: await makeTopic(place) } : {};
  await noteBefore(proof, 'production');
  const lock = place.run && proof.isLocked ? { auditLockDays: 1 } : {};
  const settings = { ...production, ...lock, ...alarms };
  const assembly = await assemble(place, 'production', settings);
  const deployment = await openDeployment(place, assembly);
  const admin = await createAdmin(deployment);
  const user = await register(deployment.api, { password });
  proof.production = { deployment, admin, user, assembly };
  return deployment.stackName;
};

/** @throws {Error} if its stack is not deployed */
export const produced = ({ production: made }: Proof): Deployed => {
  if (made) return made;
  throw new Error('The stack for production is not deployed');
};

/** Locks the archive if the emulator has left the lock out, seals, pauses the seal, and resumes it. */
export const pauseSeal = async (proof: Proof): Promise<string> => {
  const { deployment, assembly } = produced(proof);
  const { place } = proof;
  const locked = place.run ? '' : `${await lockArchive(deployment)}; `;
  await sealAndVerify(deployment);
  const paused = await assemble(place, 'paused', { ...production, auditSeal: 'paused' });
  const states = { on: assembly, paused };
  const record = () => register(deployment.api, { password });
  return locked + (await pauseAndResume(deployment, states, record));
};

/** @throws {NotProved} if the run does not lock its archive */
export const proveLock = async (proof: Proof): Promise<string> => {
  if (!proof.isLocked) throw new NotProved('--lock was not given');
  const { deployment } = produced(proof);
  await sealAndVerify(deployment);
  return deleteLocked(deployment);
};

export const tellEvents = async (proof: Proof): Promise<string> => {
  const { deployment } = produced(proof);
  return rehearseEvents(deployment, await register(deployment.api, { password }));
};

/** Destroys a production stack as infra/runbooks.md says: all its data must be left, and nothing else. */
const destroyAndKeep = async (
  place: Place,
  assembly: Assembly,
  before: readonly string[],
): Promise<readonly string[]> => {
  const there = (await inventorySince(place, before)).filter((name) => data.test(name));
  const refusal = await destroy(assembly, place).then(
    () => 'done',
    ({ message }: Error) => message,
  );
  requireThat(/termination ?protection/i.test(refusal), `Destroyed although protected: ${refusal}`);
  const note = linesWith('Undo', 'list-stack-resources');
  await follow(note.replaceAll('accounts-production', assembly.stackName), place);
  await destroy(assembly, place);
  const left = await inventorySince(place, before);
  requireThat(left.join() === there.join(), `Kept: ${left.join(', ')}, not ${there.join(', ')}`);
  return left;
};

/** Restores the tables to now, and puts back entries that are sealed later. @returns the settings of the new stack */
const restore = async ({ deployment, user }: Deployed) => {
  const { password } = user;
  const time = await restoreTables(deployment);
  const lost = await register(deployment.api, { password });
  await sealAndVerify(deployment);
  return [await replayArchive(deployment, time, lost), lost] as const;
};

/**
 * Restores the tables of the stack and destroys it by the lines of infra/runbooks.md, makes a new stack use the
 * restored tables, and finally deletes everything that is kept.
 */
export const restoreAndTakeOver = async (proof: Proof): Promise<string> => {
  const { place } = proof;
  const before = proof.before.production ?? [];
  const made = produced(proof);
  const [restored, lost] = await step(
    'Restore the tables by the lines of infra/runbooks.md, and put back entries that were sealed later',
    () => restore(made),
  );
  made.deployment.edge.stop();
  const kept = await step(
    'Destroy the stack by the lines of infra/runbooks.md, and find its data kept',
    () => destroyAndKeep(place, made.assembly, before),
    ({ length }) => `${length} tables, secrets and log groups, the archive and its key`,
  );
  const next = await assemble(place, 'restored', restored);
  const verified = await step(
    'Let a new stack take over tables and chain, continue, and find tampering with entries and archive',
    () => takeOver(proof, next, { ...made, lost }),
    String,
  );
  const left = await inventorySince(place, before);
  requireThat(left.join() === kept.join(), `Left: ${left.join(', ')}, not ${kept.join(', ')}`);
  await step('Delete the kept data by the lines of infra/runbooks.md', () =>
    deleteKept(place, before),
  );
  delete proof.production;
  return verified;
};

const deleteKept = async (place: Place, before: readonly string[]): Promise<void> => {
  await noteRestored(place);
  await follow(linesWith('Undo', 'delete-table'), place);
  const left = await inventorySince(place, before);
  // Secrets Manager keeps a deleted secret for a month, and nobody can delete a locked archive.
  const others = left.filter((name) => !/^(kms|s3|secretsmanager|key|bucket|secret) /.test(name));
  requireThat(others.length === 0, `Left behind: ${others.join(', ')}`);
};

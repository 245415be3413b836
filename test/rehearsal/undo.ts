import { register } from '../support/client.ts';
import { createAdmin, openDeployment, takeInventory } from './deployment.ts';
import type { Emulator } from './emulator.ts';
import { putEventsAt, rehearseEvents } from './events.ts';
import { noteRestored, replayArchive, restoreTables, takeOver } from './restore.ts';
import { follow, linesWith } from './runbook.ts';
import { lockArchive, pauseAndResume, type SealStates, sealAndVerify } from './seal.ts';
import { type Assembly, destroy, synthesise, variant } from './stack.ts';
import { requireThat, step } from './step.ts';

/** What outlives a production stack, in the words of the inventory. */
const data = /^(dynamodb TableNames|kms Keys|logs logGroups|s3 Buckets|secretsmanager SecretList) /;

/** What is in the account that was not there before. */
const inventorySince = async (emulator: Emulator, before: readonly string[]) =>
  (await takeInventory(emulator)).filter((name) => !before.includes(name));

/** One that production allows. */
const password = 'of fifteen or more';

/** Deploys with the settings of production, and makes an admin and a user. */
const deployWithData = async (emulator: Emulator, assembly: Assembly) => {
  const deployment = await openDeployment(emulator, assembly);
  const admin = await createAdmin(deployment);
  const user = await register(deployment.api, { password });
  return { deployment, admin, user };
};

type Made = Awaited<ReturnType<typeof deployWithData>>;

/** Proves the seal of a production stack, and its events. */
const proveTrail = async ({ deployment }: Made, states: SealStates): Promise<void> => {
  await step('Lock the objects of the archive', () => lockArchive(deployment), String);
  await step('Seal the audit trail and verify it', () => sealAndVerify(deployment), String);
  await step(
    'Pause the seal, make another user, and resume it: the chain goes on',
    () => pauseAndResume(deployment, states, () => register(deployment.api, { password })),
    String,
  );
  await step(
    'Have the bus bring failed logins to a queue, and tampering as soon as it is done',
    async () => rehearseEvents(deployment, await register(deployment.api, { password })),
    String,
  );
};

/** Destroys a production stack as infra/runbooks.md says: all its data must be left, and only they. */
const destroyAndKeep = async (
  emulator: Emulator,
  assembly: Assembly,
  before: readonly string[],
): Promise<readonly string[]> => {
  const there = (await inventorySince(emulator, before)).filter((name) => data.test(name));
  const refusal = await destroy(assembly, emulator.env).catch(({ message }: Error) => message);
  requireThat(/termination ?protection/i.test(refusal), `Destroyed although protected: ${refusal}`);
  await follow(linesWith('Undo', 'list-stack-resources'), emulator);
  await destroy(assembly, emulator.env);
  const left = await inventorySince(emulator, before);
  requireThat(left.join() === there.join(), `Kept: ${left.join(', ')}, not ${there.join(', ')}`);
  return left;
};

/**
 * Restores the tables of a production stack and undoes it by the lines of infra/runbooks.md, has a new one
 * use the restored tables, and deletes in the end what is kept.
 * @param before what was in the account before any stack
 */
export const keepAndTakeOver = async (
  emulator: Emulator,
  before: readonly string[],
): Promise<void> => {
  const settings = { name: 'production', events: 'on' };
  const events = putEventsAt(emulator.env.AWS_ENDPOINT_URL ?? '');
  const [assembly, paused] = await step(
    'Synthesise the stack for production, and with the seal paused',
    async () => {
      const [on, off] = await Promise.all([
        synthesise('production-synthesised', settings),
        synthesise('paused-synthesised', { ...settings, auditSeal: 'paused' }),
      ]);
      return [variant(on, 'production', events), variant(off, 'paused', events)] as const;
    },
  );
  const made = await step('Deploy it and make a user', () => deployWithData(emulator, assembly));
  await proveTrail(made, { on: assembly, paused });
  const [restored, lost] = await step(
    'Restore its tables by the lines of infra/runbooks.md, and put back what is sealed later',
    async () => {
      const time = await restoreTables(made.deployment);
      const later = await register(made.deployment.api, { password });
      await sealAndVerify(made.deployment);
      return [await replayArchive(made.deployment, time, later), later] as const;
    },
  );
  made.deployment.edge.stop();
  const [kept, next] = await step(
    'Destroy it by the lines of infra/runbooks.md and find its data kept',
    () =>
      Promise.all([
        destroyAndKeep(emulator, assembly, before),
        synthesise('restored-synthesised', restored),
      ]),
    ([{ length }]) => `${length} tables, secrets and log groups, the archive and its key`,
  );
  await step(
    'Have a new stack take tables and chain over, go on, and find tampering with entries and archive',
    async () => {
      const known = { ...made, lost };
      const verified = await takeOver(emulator, variant(next, 'restored', events), known);
      const left = await inventorySince(emulator, before);
      requireThat(left.join() === kept.join(), `Left: ${left.join(', ')}, not ${kept.join(', ')}`);
      return verified;
    },
    String,
  );
  await step('Delete what was kept by the lines of infra/runbooks.md', async () => {
    await noteRestored(emulator);
    await follow(linesWith('Undo', 'delete-table'), emulator);
    const left = await inventorySince(emulator, before);
    // Secrets Manager keeps a deleted secret for a month, and nothing deletes a locked archive.
    const others = left.filter((name) => !/^(kms|s3|secretsmanager) /.test(name));
    requireThat(others.length === 0, `Left behind: ${others.join(', ')}`);
  });
};

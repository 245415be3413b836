/** Restores the tables of a stack by the lines of infra/runbooks.md, for a new stack with seal and events. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type Account, register } from '../support/client.ts';
import {
  type Admin,
  type Deployment,
  openDeployment,
  operateOn,
  requireData,
} from './deployment.ts';
import type { Emulator } from './emulator.ts';
import { rehearseEvents } from './events.ts';
import { follow, linesWith } from './runbook.ts';
import { sealAndVerify, stateOfSchedule, tamperWithArchive, tamperWithEntries } from './seal.ts';
import { type Assembly, destroy } from './stack.ts';
import { requireThat } from './step.ts';
import { sealInterval } from './template.ts';
import { runFolder } from './workspace.ts';

const names = {
  usersTableName: 'accounts-users-restored',
  auditTableName: 'accounts-audit-restored',
};

/** Restores both tables to now, by the lines of the runbook. @returns the time */
export const restoreTables = async ({ emulator, outputs }: Deployment): Promise<string> => {
  const { UsersTableName, AuditTableName } = outputs;
  const restored = new Date().toISOString();
  const given = `USERS_TABLE=${UsersTableName} AUDIT_TABLE=${AuditTableName}\n`;
  const lines = linesWith('Restore', 'restore-table-to-point-in-time');
  await follow(given + lines.replace(/RESTORED=\S+/, `RESTORED=${restored}`), emulator);
  return restored;
};

/**
 * Ends the sealer of the old stack, puts back what was sealed since the tables were restored, and turns on what they
 * lack, by the lines of the runbook.
 * @returns the settings of a stack that takes the tables and their chain over
 */
export const replayArchive = async (deployment: Deployment, restored: string, lost: Account) => {
  const { emulator, outputs, stackName } = deployment;
  const disable = linesWith('Restore', 'disable-rule');
  await follow(disable.replaceAll('accounts-production', stackName), emulator);
  requireThat((await stateOfSchedule(deployment)) === 'DISABLED', 'The old sealer is still called');
  const bucket = outputs.AuditArchiveBucketName ?? '';
  const key = outputs.AuditSealKeyArn ?? '';
  const command = linesWith('Restore', 'replay-archive')
    .replaceAll('\\\n', ' ')
    .replace(/^.* -- /, '')
    .replace('$RESTORED', restored)
    .replace('$AUDIT_BUCKET', bucket)
    .replace('$AUDIT_KEY', key);
  const args = command.trim().split(/\s+/);
  // Until then a sealer may be running.
  await wait(4 * Number(sealInterval) * 1000);
  const printed = await operateOn(emulator, args);
  const isDone = /^Written: [1-9]\d*\. .* Failed: 0\.$/m.test(printed);
  const isNamed = printed.includes(`the table lacks: ${lost.id}\n`);
  requireThat(isDone && isNamed, `Replayed: ${printed}`);
  await follow(linesWith('Restore', 'update-time-to-live'), emulator);
  const streamed = await follow(linesWith('Events', '--stream-specification'), emulator);
  const streams = streamed.match(/arn:[^"\s]+\/stream\/[^"\s]+/g) ?? [];
  requireThat(streams.length > 0, `No stream of the restored table: ${streamed}`);
  const chain = { auditArchiveBucketName: bucket, auditSealKeyArn: key };
  const events = { events: 'on', auditStreamArn: streams.at(-1) ?? '' };
  return { ...names, auditSeal: 'on', ...chain, ...events };
};

interface Known {
  readonly admin: Admin;
  readonly user: Account;
  /** A user whom the restored table lacks. */
  readonly lost: Account;
}

/**
 * Has a new stack take them over: users log in, the chain goes on, ids of lost users do not come again, tampering
 * with an old and with a new entry is found, and new entries are told.
 */
export const takeOver = async (
  emulator: Emulator,
  assembly: Assembly,
  { admin, user, lost }: Known,
): Promise<string> => {
  const deployment = await openDeployment(emulator, assembly);
  await requireData(deployment, admin, user);
  // The memory of an earlier stack of this name is of another key.
  rmSync(join(runFolder, 'operator'), { recursive: true, force: true });
  const added = await register(deployment.api);
  requireThat(added.id > lost.id, `After ${lost.id} a user got the id ${added.id}`);
  const verified = await sealAndVerify(deployment);
  await tamperWithEntries(deployment, [user.id, added.id]);
  await rehearseEvents(deployment, user);
  await tamperWithArchive(deployment);
  deployment.edge.stop();
  await destroy(assembly, emulator.env);
  return verified;
};

/** Has them deleted with what was kept. */
export const noteRestored = (emulator: Emulator): Promise<string> =>
  follow(
    Object.values(names)
      .map((name) => `echo AWS::DynamoDB::Table ${name} >> kept.txt\n`)
      .join(''),
    emulator,
  );

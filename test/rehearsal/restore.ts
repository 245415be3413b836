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
import { rehearseEvents } from './events.ts';
import type { Place } from './place.ts';
import type { Proof } from './proof.ts';
import { follow, linesWith } from './runbook.ts';
import { sealAndVerify, stateOfSchedule, tamperWithArchive, tamperWithEntries } from './seal.ts';
import { type Assembly, destroy, stackNameOf } from './stack.ts';
import { requireThat } from './step.ts';
import { runFolder } from './workspace.ts';

/** The names in infra/runbooks.md; in a proving run, names that contain the id of the run. */
const namesAt = (place: Place) => {
  const prefix = stackNameOf(place, '').replace(/-$/, '');
  return { usersTableName: `${prefix}-users-restored`, auditTableName: `${prefix}-audit-restored` };
};

/** The lines of a section of infra/runbooks.md, with these names. */
const linesAt = (place: Place, section: string, text: string): string => {
  const { usersTableName, auditTableName } = namesAt(place);
  return linesWith(section, text)
    .replaceAll('accounts-users-restored', usersTableName)
    .replaceAll('accounts-audit-restored', auditTableName);
};

/** Restores both tables to now, by the lines of the runbook. @returns the time */
export const restoreTables = async ({ place, outputs }: Deployment): Promise<string> => {
  const { UsersTableName, AuditTableName } = outputs;
  const restored = new Date().toISOString();
  const given = `USERS_TABLE=${UsersTableName} AUDIT_TABLE=${AuditTableName}\n`;
  const lines = linesAt(place, 'Restore', 'restore-table-to-point-in-time');
  await follow(given + lines.replace(/RESTORED=\S+/, `RESTORED=${restored}`), place);
  return restored;
};

/**
 * Disables the sealer of the old stack, puts back the entries that were sealed after the tables were restored, and
 * turns on the features that restored tables lack, by the lines of the runbook.
 * @returns the settings of a stack that takes over the tables and their chain
 */
export const replayArchive = async (deployment: Deployment, restored: string, lost: Account) => {
  const { place, outputs, stackName } = deployment;
  const disable = linesWith('Restore', 'disable-rule');
  await follow(disable.replaceAll('accounts-production', stackName), place);
  requireThat((await stateOfSchedule(deployment)) === 'DISABLED', 'The old sealer is still called');
  const bucket = outputs.AuditArchiveBucketName ?? '';
  const key = outputs.AuditSealKeyArn ?? '';
  const command = linesAt(place, 'Restore', 'replay-archive')
    .replaceAll('\\\n', ' ')
    .replace(/^.* -- /, '')
    .replace('$RESTORED', restored)
    .replace('$AUDIT_BUCKET', bucket)
    .replace('$AUDIT_KEY', key);
  const args = command.trim().split(/\s+/);
  // A sealer may still be running until this wait is over.
  await wait(4 * place.sealInterval * 1000);
  const printed = await operateOn(place, args);
  const isDone = /^Written: [1-9]\d*\. .* Failed: 0\.$/m.test(printed);
  const isNamed = printed.includes(`who are not in the table: ${lost.id}\n`);
  requireThat(isDone && isNamed, `Replayed: ${printed}`);
  await follow(linesAt(place, 'Restore', 'update-time-to-live'), place);
  const streamed = await follow(linesAt(place, 'Events', '--stream-specification'), place);
  const streams = streamed.match(/arn:[^"\s]+\/stream\/[^"\s]+/g) ?? [];
  requireThat(streams.length > 0, `No stream of the restored table: ${streamed}`);
  const chain = { auditArchiveBucketName: bucket, auditSealKeyArn: key };
  const events = { events: 'on', auditStreamArn: streams.at(-1) ?? '' };
  const names = { name: 'restored', ...namesAt(place) };
  return { ...(place.run ? names : namesAt(place)), auditSeal: 'on', ...chain, ...events };
};

interface Known {
  readonly admin: Admin;
  readonly user: Account;
  /** A user whom the restored table lacks. */
  readonly lost: Account;
}

/**
 * Makes a new stack take over the tables: users log in, the chain is continued, ids of lost users are not used again,
 * tampering with an old and with a new entry is found, and new entries are reported as events.
 */
export const takeOver = async (
  { place, isLocked }: Proof,
  assembly: Assembly,
  { admin, user, lost }: Known,
): Promise<string> => {
  const deployment = await openDeployment(place, assembly);
  await requireData(deployment, admin, user);
  // verify-audit still remembers the key of an earlier stack that had this name; this stack has another key.
  rmSync(join(runFolder, 'operator'), { recursive: true, force: true });
  const added = await register(deployment.api);
  requireThat(added.id > lost.id, `After ${lost.id} a user got the id ${added.id}`);
  const verified = await sealAndVerify(deployment);
  await tamperWithEntries(deployment, [user.id, added.id]);
  await rehearseEvents(deployment, user);
  await tamperWithArchive(deployment, isLocked);
  deployment.edge.stop();
  await destroy(assembly, place);
  return verified;
};

/** Notes the restored tables, so that they are deleted with everything else that is kept. */
export const noteRestored = (place: Place): Promise<string> =>
  follow(
    Object.values(namesAt(place))
      .map((name) => `echo AWS::DynamoDB::Table ${name} >> kept.txt\n`)
      .join(''),
    place,
  );

/** Restores the tables of a stack by the lines of infra/runbooks.md, for a new stack with seal and events. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Account } from '../support/client.ts';
import { type Admin, type Deployment, openDeployment, requireData } from './deployment.ts';
import type { Emulator } from './emulator.ts';
import { rehearseEvents } from './events.ts';
import { follow, linesWith } from './runbook.ts';
import { sealAndVerify } from './seal.ts';
import { type Assembly, destroy } from './stack.ts';
import { requireThat } from './step.ts';
import { runFolder } from './workspace.ts';

const names = {
  usersTableName: 'accounts-users-restored',
  auditTableName: 'accounts-audit-restored',
};

/** @returns the settings of a stack that takes the restored tables over */
export const restoreTables = async ({ emulator, outputs }: Deployment) => {
  const { UsersTableName, AuditTableName } = outputs;
  const given = `USERS_TABLE=${UsersTableName} AUDIT_TABLE=${AuditTableName}\n`;
  await follow(given + linesWith('Restore', 'restore-table-to-point-in-time'), emulator);
  await follow(linesWith('Restore', 'update-time-to-live'), emulator);
  const printed = await follow(linesWith('Events', '--stream-specification'), emulator);
  const streams = printed.match(/arn:[^"\s]+\/stream\/[^"\s]+/g) ?? [];
  requireThat(streams.length > 0, `No stream of the restored table: ${printed}`);
  return { ...names, auditSeal: 'on', events: 'on', auditStreamArn: streams.at(-1) ?? '' };
};

/** Has a new stack take them over: users log in, all entries are sealed, and new ones are told. */
export const takeOver = async (
  emulator: Emulator,
  assembly: Assembly,
  { admin, user }: { admin: Admin; user: Account },
): Promise<string> => {
  const deployment = await openDeployment(emulator, assembly);
  await requireData(deployment, admin, user);
  // A new chain has another key than the one that is remembered of an earlier stack of this name.
  rmSync(join(runFolder, 'operator'), { recursive: true, force: true });
  const verified = await sealAndVerify(deployment);
  await rehearseEvents(deployment, user);
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

import { type Replayed, replay } from '../../../lib/seal/replay.ts';
import { putBack } from '../../../lib/seal/table.ts';
import { findEnd } from '../../../lib/seal/walk.ts';
import { passUserIds } from '../../../lib/users/store.ts';
import { recordOutcome } from '../audit.ts';
import { type Command, type Invocation, parseTime } from '../command.ts';
import { explain, Failure, UsageError } from '../failure.ts';
import { type OpenedTrail, openTrail } from '../sealed-trail.ts';
import { sealedUsers } from '../sealed-users.ts';

export const replayArchive: Command = {
  summary: 'write back the sealed entries that restored tables lack',
  options: {
    '--restored <time>': 'the time to which the tables were restored, as you gave it to AWS',
    '--users-table <name>': 'the restored table of users, which no service uses yet',
    '--audit-table <name>': 'the restored table of audit entries',
    '--bucket <name>': 'the bucket of the archive, AuditArchiveBucketName',
    '--key <arn>': 'the key that signs the archive, AuditSealKeyArn',
  },
  help: `Run it after a restore and before any service uses the tables. Each entry that was sealed after
--restored, and whose id the table lacks, is written to the table, byte for byte. After that verify-audit
reports what it would have reported before the restore: an entry that differs, or that was missing
before, is still a finding. New users get ids that are greater than all sealed ids. The command names
users who are in the trail but not in the table, and users who were deleted after --restored and are in
the table again.

No sealer may run: on AWS disable its rule first. The command refuses to run while the newest file of
the archive is younger than three intervals. It can be run again. On this machine restore the data
folder, keep the newest audit-archive in it, and run the command before you start the service.`,
  examples: [
    'replay-archive --restored 2026-11-20T12:00:00Z --users-table accounts-users-restored --audit-table accounts-audit-restored --bucket BUCKET --key ARN',
    'replay-archive --restored 2026-11-20T12:00:00Z --local',
  ],
  run,
};

async function run(invocation: Invocation): Promise<void> {
  const { operator, options } = invocation;
  const restored = parseTime('restored', options.restored);
  if (!restored)
    throw new UsageError('--restored must be the time to which the tables were restored.');
  const trail = await openTrail(invocation);
  if (!trail)
    throw new Failure('The audit trail is not sealed: there are no entries to write back.');
  await requireStill(trail, Date.now());
  const done: Tally = { files: 0, written: 0, present: 0, left: 0, missing: 0, back: 0 };
  const stopped = await putAllBack(trail, restored, done).then(
    () => undefined,
    (error) => `${explain(error)} Run the same command again.`,
  );
  const { files, written, present, left } = done;
  console.log(
    `Written: ${written}. Already there: ${present}. Files read: ${files}. Failed: ${left}.`,
  );
  const unwritten =
    'The entries and files named above could not be written or read: run verify-audit.';
  // Only counts are recorded, because a list of ids would be taken for the ids of replayed entries.
  const operation = { operator, action: 'CREATE', resource: 'audit-logs', details: done } as const;
  await recordOutcome(operation, stopped ?? (left > 0 ? unwritten : undefined));
}

/** How many entries were put back, and how the users of the trail differ from the users of the table. */
interface Tally extends Replayed {
  /** How many entries could not be put back, and how many files are not signed or cannot be read. */
  left: number;
  /** How many users are in the trail but not in the table, and how many deleted users are in the table again. */
  missing: number;
  back: number;
}

/**
 * @throws {Failure} while a sealer may be running, whose files would differ from the files of the new sealer; and if the
 *   archive has no file that this key has signed
 */
async function requireStill(trail: OpenedTrail, now: number): Promise<void> {
  if (trail.folder !== undefined) {
    if (trail.isLive)
      throw new Failure('The service is running, and seals entries: stop it first.');
    return;
  }
  const { newest } = await findEnd(trail, now, { mostUnsigned: Number.POSITIVE_INFINITY });
  if (!newest) throw new Failure('The archive has no file that this key has signed.');
  const wait = 3 * newest.interval * 1000;
  if (Math.abs(now - Date.parse(newest.at)) >= wait) return;
  const from = new Date(Date.parse(newest.at) + wait).toISOString();
  throw new Failure(
    `A sealer may be running: the newest file was written at ${newest.at}. Disable the rule that runs it, and try again from ${from} on.`,
  );
}

async function putAllBack(trail: OpenedTrail, restored: string, done: Tally): Promise<void> {
  const users = sealedUsers();
  const left = (subject: string, why: string) => {
    done.left += 1;
    console.error(`Failed: ${subject}. ${why}.`);
  };
  const { archive, publicKey } = trail;
  const reading = { archive, publicKey, restored, now: Date.now() };
  await replay({ ...reading, put: putBack, seen: users.see, left }, done);
  await passUserIds(users.last());
  const { missing, back } = await users.compare();
  done.missing = missing.length;
  done.back = back.length;
  name('Users in the trail who are not in the table', missing);
  name('Users who were deleted after that time, and are in the table again', back);
}

function name(title: string, ids: readonly number[]): void {
  if (ids.length > 0) console.log(`${title}: ${ids.join(', ')}`);
}

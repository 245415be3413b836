import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { shownUser } from '../../../lib/accounts/user-response.ts';
import { send } from '../../../lib/dynamodb/client.ts';
import { config } from '../../../lib/ground/settings.ts';
import { storedAttributes } from '../../../lib/options/attributes/attributes.ts';
import type { StoredUser } from '../../../lib/users/item.ts';
import { isUnmatchable } from '../../../lib/users/user.ts';
import { recordIntention } from '../audit.ts';
import type { Command, Run } from '../command.ts';
import { exportAll } from '../export.ts';
import { Failure } from '../failure.ts';

/** The number of items that one request reads; not all of them are users. */
const scanLimit = 500;

/**
 * All users with their password hashes, in pages, in any order. A user who is changed meanwhile is returned as before
 * or as after the change.
 * @throws {DomainError} STORAGE_FAULT
 */
export async function* scanUsers(): AsyncGenerator<readonly StoredUser[]> {
  let from: Record<string, unknown> | undefined;
  do {
    const { Items = [], LastEvaluatedKey } = await send(
      new ScanCommand({
        TableName: config.usersTable,
        FilterExpression: 'begins_with(pk, :user)',
        ExpressionAttributeValues: { ':user': 'user#' },
        ConsistentRead: true,
        Limit: scanLimit,
        ExclusiveStartKey: from,
      }),
    );
    yield Items.map((item) => item as StoredUser);
    from = LastEvaluatedKey;
  } while (from);
}

const run: Run = async ({ operator, operands: [name = ''] }) => {
  if (name === '-' && process.stdout.isTTY) {
    throw new Failure('Password hashes are not printed to a terminal: name a file, or use a pipe.');
  }
  await exportAll(name, 'users', async (write, advance) => {
    await recordIntention({ operator, action: 'EXPORT' });
    let count = 0;
    for await (const users of scanUsers()) {
      await write(users.map(lineOf).join(''));
      count += users.length;
      advance(count);
    }
    return count;
  });
};

export const exportUsers: Command = {
  summary: 'export all users with their password hashes, to another system',
  operands: ['file'],
  help: `Each line is a JSON object that import-users can read; the lines are in no order. The file must not
exist; only you can read it. FILE - is standard output, unless that is a terminal. Second factors are
not exported: users set them up anew.

The hash of a password that is longer than 72 bytes or contains a NUL begins with $bcrypt-sha256$v=1.
It is the bcrypt hash of the base64 of the password's SHA-256: other systems must support this.`,
  examples: [
    'export-users users.ndjson --stack accounts-production',
    'export-users - --stack accounts-production | gzip > users.ndjson.gz',
  ],
  run,
};

function lineOf(stored: StoredUser): string {
  const user = { ...shownUser(stored), email_verified: stored.email_verified === true };
  const { suspended_at, auditor } = stored;
  const password_hash = isUnmatchable(stored.password_hash) ? null : stored.password_hash;
  const identities = stored.identities?.map(({ id: _, ...identity }) => identity);
  const attributes = stored.attributes && storedAttributes(stored);
  const line = { ...user, password_hash, suspended_at, auditor, identities, attributes };
  return `${JSON.stringify(line)}\n`;
}

import type { StoredUser } from '../../../lib/users/items.ts';
import { isUnmatchable } from '../../../lib/users/password.ts';
import { type Operator, recordIntention } from '../audit.ts';
import type { Run } from '../command.ts';
import { Failure } from '../failure.ts';
import { exportTo, type Write } from '../files.ts';
import { scanUsers } from '../import-block.ts';
import { catchInterruption, startProgress } from '../terminal.ts';

const lineOf = ({ id, name, email, role, created_at, password_hash: hash }: StoredUser): string => {
  const password_hash = isUnmatchable(hash) ? null : hash;
  return `${JSON.stringify({ id, name, email, role, created_at, password_hash })}\n`;
};

/** @returns how many users were written */
const writeAll = async (operator: Operator, write: Write): Promise<number> => {
  await recordIntention({ operator, action: 'EXPORT', resource: 'users' });
  const progress = startProgress(process.stderr);
  const interruption = catchInterruption();
  let count = 0;
  try {
    for await (const users of scanUsers()) {
      await write(users.map(lineOf).join(''));
      count += users.length;
      progress.show(undefined, `${count.toLocaleString('en')} users`);
      if (interruption.requested) throw new Failure('Interrupted: the export is not complete.');
    }
    return count;
  } finally {
    progress.end();
    interruption.release();
  }
};

export const run: Run = async ({ operator, operands: [name = ''] }) => {
  if (name === '-' && process.stdout.isTTY) {
    throw new Failure('Password hashes are not shown on a terminal: name a file, or use a pipe.');
  }
  const count = await exportTo(name, (write) => writeAll(operator, write));
  console.error(`Exported ${count.toLocaleString('en')} users.`);
};

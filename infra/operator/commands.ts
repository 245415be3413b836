import { actions, results } from '../../lib/audit/entry.ts';
import { entryNotWritten } from '../../lib/log.ts';
import type { Command } from './command.ts';
import { run as createAdmin } from './commands/create-admin.ts';
import { run as demote } from './commands/demote.ts';
import { run as exportAudit } from './commands/export-audit.ts';
import { run as exportUsers } from './commands/export-users.ts';
import { run as importUsers } from './commands/import-users.ts';
import { run as listAdmins } from './commands/list-admins.ts';
import { run as promote } from './commands/promote.ts';
import { run as removeSecondFactor } from './commands/remove-second-factor.ts';
import { run as replayAudit } from './commands/replay-audit.ts';
import { run as resetPassword } from './commands/reset-password.ts';
import { run as revoke, runForAll as revokeAll } from './commands/revoke.ts';
import { run as rotateSecret } from './commands/rotate-secret.ts';
import { run as verifyAudit } from './commands/verify-audit.ts';
import { run as verifyEmail } from './commands/verify-email.ts';

export const commands: Readonly<Record<string, Command>> = {
  'create-admin': {
    summary: 'create a user with the role admin',
    operands: ['EMAIL'],
    options: {
      name: { type: 'string', value: 'NAME', help: "the admin's name (default: Administrator)" },
    },
    help: `The password is asked for twice and not shown; without a terminal, it is the only line of
standard input. It is never an argument, because arguments stay in the history of the shell and
are shown in the list of processes. Use promote for a user who exists already.`,
    examples: [
      'create-admin ada@example.com --stack accounts-production',
      'create-admin ada@example.com --name "Ada Lovelace" --local',
      'create-admin ada@example.com --stack accounts-production < password-file',
    ],
    run: createAdmin,
  },
  promote: {
    summary: 'give a user the role admin',
    operands: ['EMAIL'],
    help: `It takes effect at the next login. Where sessions are revocable, the present ones are ended.`,
    examples: [
      'promote ada@example.com --stack accounts-production',
      'promote ada@example.com --local',
    ],
    run: promote,
  },
  demote: {
    summary: 'take the role admin from a user',
    operands: ['EMAIL'],
    help: `The last admin cannot be demoted: make another user an admin first. The sessions of the user
are ended; where sessions are stateless, a token keeps the role until it expires, at most one day
after its login.`,
    examples: [
      'demote ada@example.com --stack accounts-production',
      'demote ada@example.com --local',
    ],
    run: demote,
  },
  'list-admins': {
    summary: 'list the users who have the role admin',
    operands: [],
    help: 'Each line has id, email, name and time of creation, separated by tabs. A change of the last\nsecond may be missing.',
    examples: ['list-admins --stack accounts-production', 'list-admins --local'],
    run: listAdmins,
  },
  revoke: {
    summary: 'end all sessions of a user',
    operands: ['EMAIL'],
    help: `The tokens of the user are refused from now on; the user can log in again, with the same
password. Only revocable sessions can be ended so: stateless ones end when their tokens expire, or
all at once by rotate-secret, after a leak of the secret.`,
    examples: [
      'revoke ada@example.com --stack accounts-production',
      'revoke ada@example.com --local',
    ],
    run: revoke,
  },
  'revoke-all': {
    summary: 'end all sessions of all users',
    operands: [],
    help: `Everyone has to log in again: for instance after a table was restored, which brings back
sessions that were ended since. If the command stops early, run it again. Stateless sessions cannot be
ended so.`,
    examples: ['revoke-all --stack accounts-production', 'revoke-all --local'],
    run: revokeAll,
  },
  'remove-second-factor': {
    summary: 'remove the second factor of a user',
    operands: ['EMAIL'],
    help: `For a user who has lost both the app and the recovery codes: make sure who asks. The password
stays as it is, all sessions of the user are ended, and logins ask for no code any more.`,
    examples: [
      'remove-second-factor ada@example.com --stack accounts-production',
      'remove-second-factor ada@example.com --local',
    ],
    run: removeSecondFactor,
  },
  'reset-password': {
    summary: 'print a link by which a user sets a new password',
    operands: ['EMAIL'],
    help: `For a user whose mails do not arrive: send the link in a way that you trust, to this user
alone. It is valid for 30 minutes, and only once; links that were mailed before become invalid. This
needs a service that sends mails (mailFrom, resetUrl). Nothing is mailed until the link is used.`,
    examples: [
      'reset-password ada@example.com --stack accounts-production',
      'reset-password ada@example.com --local',
    ],
    run: resetPassword,
  },
  'verify-email': {
    summary: 'mark the address of a user as verified',
    operands: ['EMAIL'],
    help: `For a user whose mails do not arrive, and who has shown you otherwise that the address is
theirs. This needs a service that verifies addresses (emailVerification).`,
    examples: [
      'verify-email ada@example.com --stack accounts-production',
      'verify-email ada@example.com --local',
    ],
    run: verifyEmail,
  },
  'rotate-secret': {
    summary: 'replace the secret that signs tokens, without logging anyone out',
    operands: [],
    options: {
      force: { type: 'boolean', help: 'rotate again within a day of the last rotation' },
    },
    help: `The new secret signs tokens from two minutes on, when all running functions have read it.
Tokens of the old secret are accepted until they expire; only then can it be rotated again.

After a leak, run this command twice, the second time with --force: within a minute tokens of both
older secrets are refused. Everyone has to log in again, unless sessions can be refreshed.`,
    examples: [
      'rotate-secret --stack accounts-production',
      'rotate-secret --stack accounts-production --force',
    ],
    run: rotateSecret,
  },
  'import-users': {
    summary: 'import users of another system, with their password hashes',
    operands: ['FILE'],
    options: {
      ids: {
        type: 'string',
        value: 'NEW_FILE',
        help: 'write old id, new id and email to this file',
      },
    },
    help: `Each line is a JSON object with name, email, password_hash and, if known, role (user or
admin), created_at, in ISO 8601 or as PostgreSQL prints it, with an offset from UTC, and
email_verified (default: true, where the service verifies addresses). Other fields are ignored; users
get new ids. Hashes are bcrypt hashes ($2a$, $2b$, $2y$, of a cost up to the
service's BCRYPT_COST) or hashes from export-users of this service. A user without such a hash has
null, and sets a password by a reset before logging in. A plain bcrypt hash covers only the first
72 bytes of a password: users with longer ones cannot log in.

  {"name":"Ada","email":"ada@example.com","password_hash":"$2b$10$…"}

Lines that break a rule are reported by their numbers and left out; all others are imported. After
Ctrl-C, a fault or a correction of the reported lines, run the command again: users whom the same
line has imported before are skipped, even if they have logged in or changed their passwords since.

With --ids, a new file that only you can read has one JSON object per line, for each user whom this
run or an earlier one has imported; old_id is the field id of the line:

  {"old_id":"9f1c","new_id":17,"email":"ada@example.com"}`,
    examples: [
      'import-users users.ndjson --stack accounts-production',
      'import-users users.ndjson --ids ids.ndjson --stack accounts-production',
      'import-users users.ndjson --local',
    ],
    run: importUsers,
  },
  'export-users': {
    summary: 'export all users with their password hashes, to another system',
    operands: ['FILE'],
    help: `Each line is a JSON object that import-users can read; they are in no order. The file must not
exist; only you can read it. FILE - is standard output, unless that is a terminal. Second factors are
not exported: users set them up anew.

The hash of a password that is longer than 72 bytes or contains a NUL begins with $bcrypt-sha256$v=1.
It is the bcrypt hash of the base64 of the password's SHA-256: other systems must support this.`,
    examples: [
      'export-users users.ndjson --stack accounts-production',
      'export-users - --stack accounts-production | gzip > users.ndjson.gz',
    ],
    run: exportUsers,
  },
  'replay-audit': {
    summary: 'write audit entries that could not be written before, from the log',
    operands: ['FILE'],
    help: `Reads log lines (FILE - is standard input) and writes the entry of each line with the event
${entryNotWritten}. Other lines are ignored. The command can be run again: entries that exist already
are not changed.

From a deployed function:
  aws logs filter-log-events --log-group-name GROUP --filter-pattern '"${entryNotWritten}"' \\
    --query 'events[].[message]' --output text > lines.log`,
    examples: [
      'replay-audit lines.log --stack accounts-production',
      'replay-audit service.log --local',
    ],
    run: replayAudit,
  },
  'export-audit': {
    summary: 'export audit entries of the table and the archive, for an auditor',
    operands: ['FILE'],
    options: {
      since: {
        type: 'string',
        value: 'TIME',
        help: 'entries from this time on (RFC 3339, or a date)',
      },
      until: { type: 'string', value: 'TIME', help: 'entries before this time' },
      'user-id': { type: 'string', value: 'ID', help: 'actions of this user' },
      'resource-id': { type: 'string', value: 'ID', help: 'actions on this user' },
      action: { type: 'string', value: 'ACTION', help: `one of ${actions.join(', ')}` },
      result: { type: 'string', value: 'RESULT', help: `one of ${results.join(', ')}` },
      format: {
        type: 'string',
        value: 'FORMAT',
        help: 'ndjson (default), or csv for spreadsheets',
      },
      archive: {
        type: 'string',
        value: 'FOLDER',
        help: 'instead of a service: a copy of an archive, which has only sealed entries',
      },
      'public-key': {
        type: 'string',
        value: 'FILE',
        help: 'the public key (PEM) of the key that signed the copy',
      },
    },
    help: `Entries are written oldest first, each once, including those that have left the table. They
have the fields of the API, and also request_id, which the request's log line has; window, the
beginning of the window that sealed the entry (null: it is not sealed yet); and late, whether it was
sealed in a later window than that of its time. The file must not exist; only you can read it. FILE -
is standard output.

Sealed entries are written as they were sealed, whatever the table has. Each file of the archive is
checked when it is read: if one has changed, nothing is written (see verify-audit). A copy is read
without a service, and no audit entry is left.`,
    examples: [
      'export-audit entries.ndjson --stack accounts-production',
      'export-audit tuesday.csv --format csv --since 2026-11-17 --until 2026-11-18 --local',
      'export-audit user-5.csv --format csv --user-id 5 --stack accounts-production',
      'export-audit about-5.ndjson --resource-id 5 --archive copy --public-key public-key.pem',
    ],
    run: exportAudit,
  },
  'verify-audit': {
    summary: 'prove that nobody has changed, deleted or added audit entries since they were sealed',
    operands: [],
    options: {
      since: {
        type: 'string',
        value: 'TIME',
        help: 'windows from this time on (RFC 3339, or a date)',
      },
      until: { type: 'string', value: 'TIME', help: 'windows that begin before this time' },
      archive: {
        type: 'string',
        value: 'FOLDER',
        help: 'instead of a service: a copy of an archive, compared with itself only',
      },
      'public-key': {
        type: 'string',
        value: 'FILE',
        help: 'the public key (PEM) that must have signed it',
      },
      known: {
        type: 'string',
        value: 'FILE',
        help: 'findings that are known, with their reasons: they do not count',
      },
      'write-known': {
        type: 'string',
        value: 'FILE',
        help: 'a new file for what is found, to be given reasons and then as --known',
      },
    },
    help: `Names, by id, entries that are changed (with what was sealed and what is there), deleted,
inserted or late, and files of the archive that are missing, unreadable, wrongly signed, moved or
forked; says how many entries are too new to be sealed. Where nothing of the time is sealed that
--since and --until ask for, it cannot tell; where digests end before it does, they are behind.

It remembers the newest digest of each key, and the key of each service, in
$XDG_STATE_HOME/accounts-service (or, unset, in ~/.local/state/accounts-service), and says when one
is gone or another one. A new key that you intended is confirmed once by --public-key. Run it regularly, on a
machine that nobody reaches who may write to the archive: only such a memory shows that the newest
digests were taken away. Compare the key's fingerprint, which it prints, with the one you know.`,
    examples: [
      'verify-audit --stack accounts-production',
      'verify-audit --since 2026-11-01 --local',
      'verify-audit --archive copy --public-key public-key.pem',
    ],
    status: { failure: 2, help: '0 intact, 1 not intact, 2 could not tell or wrong usage' },
    run: verifyAudit,
  },
};

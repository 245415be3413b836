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
import { run as replayAudit } from './commands/replay-audit.ts';
import { run as resetPassword } from './commands/reset-password.ts';
import { run as revoke } from './commands/revoke.ts';
import { run as rotateSecret } from './commands/rotate-secret.ts';
import { run as verifyAudit } from './commands/verify-audit.ts';

export const commands: Readonly<Record<string, Command>> = {
  'create-admin': {
    summary: 'make a new user with the role admin',
    operands: ['EMAIL'],
    options: {
      name: { type: 'string', value: 'NAME', help: "the admin's name (default: Administrator)" },
    },
    help: `The password is asked for twice and not shown; without a terminal, it is the one line of
standard input. It is never an argument: those stay in the history of the shell and show
in the list of processes. For a user who exists already there is promote.`,
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
    help: `It counts from the next login on. Where sessions are revocable, those of before are ended.`,
    examples: [
      'promote ada@example.com --stack accounts-production',
      'promote ada@example.com --local',
    ],
    run: promote,
  },
  demote: {
    summary: 'take the role admin from a user',
    operands: ['EMAIL'],
    help: `The last admin stays one: make another one before. The sessions that the user has are ended;
where sessions are stateless, a token of before keeps the role until it expires, one day after its
login at the latest.`,
    examples: [
      'demote ada@example.com --stack accounts-production',
      'demote ada@example.com --local',
    ],
    run: demote,
  },
  'list-admins': {
    summary: 'show who has the role admin',
    operands: [],
    help: 'One line each: id, email, name, time of creation, between tabs. A change of the last\nsecond may be missing.',
    examples: ['list-admins --stack accounts-production', 'list-admins --local'],
    run: listAdmins,
  },
  revoke: {
    summary: 'end all sessions of a user',
    operands: ['EMAIL'],
    help: `Its tokens are refused from now on; it may log in again, with the password that it has. Only
where sessions are revocable: others end when their tokens expire, or all together after a
leak of the secret (rotate-secret).`,
    examples: [
      'revoke ada@example.com --stack accounts-production',
      'revoke ada@example.com --local',
    ],
    run: revoke,
  },
  'reset-password': {
    summary: 'make a link by which a user sets a new password, and print it once',
    operands: ['EMAIL'],
    help: `For a user whose mails do not arrive: hand it over by a way that you trust, to nobody else.
It is good for 30 minutes, once, and voids the links that were mailed before. Only where the
service sends mails (mailFrom, resetUrl). Nothing is mailed before it is used.`,
    examples: [
      'reset-password ada@example.com --stack accounts-production',
      'reset-password ada@example.com --local',
    ],
    run: resetPassword,
  },
  'rotate-secret': {
    summary: 'replace the secret that signs tokens, logging nobody out',
    operands: [],
    options: {
      force: { type: 'boolean', help: 'also within a day after the rotation before' },
    },
    help: `The new secret signs two minutes from now, when everything that runs has read it. Tokens of
the old one are accepted until they expire; only then can it be rotated again.

After a leak, run it twice, the second time with --force: both older secrets are then
forgotten within a minute, and everyone has to log in anew.`,
    examples: [
      'rotate-secret --stack accounts-production',
      'rotate-secret --stack accounts-production --force',
    ],
    run: rotateSecret,
  },
  'import-users': {
    summary: 'bring users in from another system, with their password hashes',
    operands: ['FILE'],
    options: {
      ids: { type: 'string', value: 'NEW_FILE', help: 'lists old id, new id and email there' },
    },
    help: `One JSON object a line: name, email, password_hash; role (user or admin) and created_at
where known, in ISO 8601 or as PostgreSQL prints it, with an offset from UTC. Other fields are
ignored; ids are given anew. Hashes are bcrypt's ($2a$, $2b$, $2y$, of the service's BCRYPT_COST
at most), or this service's own from export-users; null for a user who has none that is bcrypt's
and sets a password by a reset before it logs in. A plain hash of a password over 72 bytes holds
no more than its beginning, and that user cannot log in.

  {"name":"Ada","email":"ada@example.com","password_hash":"$2b$10$…"}

A line that breaks rules is reported by its number and left out, all others are imported.
Interrupted by Ctrl-C or a fault, it goes on when it is run again: a user whom the same line
brought in is skipped, also after a login or a new password. So is every line that was good
once the bad ones are corrected.

With --ids, a new file that only you can read has one JSON object a line, for all who were
brought in by this run or an earlier one; old_id is what the line has in its field id:

  {"old_id":"9f1c","new_id":17,"email":"ada@example.com"}`,
    examples: [
      'import-users users.ndjson --stack accounts-production',
      'import-users users.ndjson --ids ids.ndjson --stack accounts-production',
      'import-users users.ndjson --local',
    ],
    run: importUsers,
  },
  'export-users': {
    summary: 'write all users with their password hashes, to move elsewhere',
    operands: ['FILE'],
    help: `One JSON object a line, in no order, as import-users reads them. The file must not exist;
only you can read it. FILE - is standard output, unless that is a terminal.

The hash of a password over 72 bytes, or with a NUL, begins with $bcrypt-sha256$v=1 and is
bcrypt over the base64 of the password's SHA-256: other systems have to know that.`,
    examples: [
      'export-users users.ndjson --stack accounts-production',
      'export-users - --stack accounts-production | gzip > users.ndjson.gz',
    ],
    run: exportUsers,
  },
  'replay-audit': {
    summary: 'write audit entries from the log that could not be written',
    operands: ['FILE'],
    help: `Reads log lines, FILE - from standard input, and writes the entry of each line with the event
${entryNotWritten}. Other lines are ignored. Once or twice makes no difference: an
entry that is there already is left as it is.

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
    summary: 'write audit entries of table and archive, for an auditor',
    operands: ['FILE'],
    options: {
      since: { type: 'string', value: 'TIME', help: 'entries from then on (RFC 3339, or a date)' },
      until: { type: 'string', value: 'TIME', help: 'entries before then' },
      'user-id': { type: 'string', value: 'ID', help: 'what this user did' },
      'resource-id': { type: 'string', value: 'ID', help: 'what was done to this user' },
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
        help: 'instead of a service: a copy of an archive, which has what was sealed only',
      },
      'public-key': {
        type: 'string',
        value: 'FILE',
        help: 'the key (PEM) by which the copy is signed',
      },
    },
    help: `Oldest first, each entry once, those included that have left the table. Fields are those of
the API, and then request_id, of the request's log line; window, when the window begins that sealed
the entry (null: it is not sealed yet); and late, whether it was sealed in a later window than that of
its time. The file must not exist; only you can read it. FILE - is standard output.

What was sealed is written as it was sealed, whatever the table has; each file of the archive is
checked as it is read. Where one is not as it was sealed, nothing is written: see verify-audit. Of a
copy all is read without a service, and no audit entry is left.`,
    examples: [
      'export-audit entries.ndjson --stack accounts-production',
      'export-audit tuesday.csv --format csv --since 2026-11-17 --until 2026-11-18 --local',
      'export-audit user-5.csv --format csv --user-id 5 --stack accounts-production',
      'export-audit about-5.ndjson --resource-id 5 --archive copy --public-key public-key.pem',
    ],
    run: exportAudit,
  },
  'verify-audit': {
    summary: 'prove that nobody changed, deleted or added audit entries since they were sealed',
    operands: [],
    options: {
      since: { type: 'string', value: 'TIME', help: 'windows from then on (RFC 3339, or a date)' },
      until: { type: 'string', value: 'TIME', help: 'windows that begin before then' },
      archive: {
        type: 'string',
        value: 'FOLDER',
        help: 'instead of a service: a copy of an archive, compared with itself only',
      },
      'public-key': { type: 'string', value: 'FILE', help: 'the key (PEM) that it must be' },
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

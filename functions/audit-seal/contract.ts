import * as v from 'valibot';
import type { Contract, Descriptions } from '../../lib/contract/contract.ts';
import { count, message, named, timestamp } from '../../lib/contract/schemas.ts';
import type { ServiceValues } from '../../lib/ground/settings.ts';
import { described, trueOrFalse } from '../../lib/ground/validation.ts';
import type { compareEntry } from '../../lib/seal/compare-entry.ts';
import { auditEntry, example as exampleEntry } from '../audit-logs/contract.ts';

export const get = {
  route: 'GET /api/admin/audit-seal',
  exists: ({ auditSeal }: ServiceValues) => auditSeal !== 'off',
  may: 'audit',
  storageFault: ['Error reading audit seal', 'err'],
} as const satisfies Contract;

export const entry = {
  route: 'GET /api/admin/audit-seal/entries/{entry}',
  exists: ({ auditSeal }: ServiceValues) => auditSeal !== 'off',
  may: 'audit',
  takesSource: true,
  storageFault: ['Error comparing audit entry', 'err'],
} as const satisfies Contract;

export const requestCheck = {
  route: 'POST /api/admin/audit-seal/checks',
  exists: ({ auditSeal }: ServiceValues) => auditSeal !== 'off',
  may: 'requestCheck',
  body: () =>
    named(
      'SealCheckRequest',
      v.object({
        whole: v.exactOptional(
          described(trueOrFalse, 'Whether every file is checked. Only admins may send true.'),
        ),
      }),
    ),
  storageFault: ['Error requesting check', 'err'],
} as const satisfies Contract;

/** The message is the same whether or not a check was requested before. */
export const requested = 'Check requested';

export const tag = 'Audit trail';

export const descriptions: Descriptions = {
  get: () => ({
    id: 'getAuditSeal',
    summary: 'Get how the seal stands',
    text: 'As the service says. Whoever does not trust it runs `verify-audit` elsewhere.',
    success: {
      status: 200,
      description: 'The newest file, and what the sealer has checked.',
      schema: summary(),
      example: {
        key: 'fd110d301d2f077de1414b8f99f441b1403fab207b2052fbd2c065e4ee8e7dc2',
        interval: 300,
        newest: {
          number: 7,
          at: '2026-11-22T12:11:00.000Z',
          until: '2026-11-22T12:10:00.000Z',
          count: 2,
        },
        behind: null,
        check: {
          at: '2026-11-22T12:06:00.000Z',
          until: '2026-11-22T12:05:00.000Z',
          entries: 4980,
          total: 5130,
          next: '2026-11-22T12:56:00.000Z',
          recent: true,
          findings: 1,
          named: [{ kind: 'changed', subject: '115192872960001', at: '2026-11-22T12:06:00.000Z' }],
          found: '2026-11-22T12:06:00.000Z',
        },
        days: { table: 90, lock: 2555, archive: 2555 },
        whole: { asked_at: '2026-11-22T12:01:00.000Z', checked: 3, of: 6, ended_at: null },
      },
    },
    errors: ['AUDIT_NOT_SEALED'],
  }),

  entry: (settings) => ({
    id: 'compareAuditEntry',
    summary: 'Compare an entry with the seal',
    text: 'The entry as the table has it, and its line in the archive. The state `not_found` never means that the entry was not sealed.',
    success: {
      status: 200,
      description: 'How they compare.',
      schema: compared(settings),
      example: {
        state: 'differs',
        fields: ['ip_address'],
        file: 7,
        stored: { ...exampleEntry, ip_address: '192.0.2.2' },
        sealed: exampleEntry,
      },
    },
    errors: ['AUDIT_NOT_SEALED', 'AUDIT_ENTRY_NOT_FOUND'],
  }),

  requestCheck: () => ({
    id: 'requestAuditSealCheck',
    summary: 'Request a check of the seal',
    text: [
      'The next run of the sealer checks the newest two days, or begins to if they have more than a million entries. A check that is under way is finished first. While a request is pending, another one changes nothing.',
      'With `whole` it begins to check every file that is there by then, in parts of at most four minutes, beside the other checks. That can be requested once a day; what is left of an earlier one is given up.',
    ],
    isBodyOptional: true,
    bodyExample: { whole: true },
    success: {
      status: 202,
      description: 'A check is requested.',
      schema: message(),
      example: { message: requested },
    },
    errors: ['AUDIT_NOT_SEALED', 'WHOLE_CHECK_REQUESTED'],
  }),
};

function summary() {
  return named(
    'AuditSealSummary',
    v.object({
      key: described(v.string(), 'SHA-256 of the public key (SPKI, DER), hexadecimal.'),
      interval: described(count(), 'Seconds from one run of the sealer to the next.'),
      newest: described(
        v.nullable(sealedFile()),
        'The newest file; null before the first is sealed.',
      ),
      behind: described(
        v.nullable(count()),
        'Null while sealing keeps up, and before the first file is sealed. Otherwise the seconds since `until` of the newest file: that is longer ago than three intervals and a grace (of one interval, a minute at most), and than five minutes.',
      ),
      check: described(
        v.nullable(sealCheck()),
        'The last check by the sealer; null before the first.',
      ),
      days: kept(),
      whole: described(
        v.nullable(wholeCheck()),
        'The whole check that was requested last; null if none ever was.',
      ),
    }),
  );
}

const states = {
  equal: 'the table has the entry as it was sealed',
  differs: 'it differs in `fields`',
  deleted: 'it was sealed and is not in the table, although its time in the table has not ended',
  inserted: 'it is in the table, and the files that cover its time do not have it',
  waits: 'the next run of the sealer will look at its time',
  left: 'its time in the table, or the time of its file in the archive, has ended',
  too_large: 'its file is too large to be looked at here (more than 16 MB, or 128 MB unpacked)',
  not_found:
    'the file that may have it is missing, is not as it was sealed (`finding`), or was not found by reading 20 headers',
} as const satisfies Record<Awaited<ReturnType<typeof compareEntry>>['state'], string>;

function compared(settings: ServiceValues) {
  const entryOrNull = v.nullable(foundEntry(settings));
  const meanings = Object.entries(states).map(([state, meaning]) => `\`${state}\`: ${meaning}`);
  return named(
    'ComparedAuditEntry',
    v.object({
      state: described(v.picklist(Object.keys(states)), `${meanings.join('; ')}.`),
      fields: v.exactOptional(
        described(
          v.array(v.string()),
          'The names of the fields that differ, also of stored fields that are not shown.',
        ),
      ),
      file: v.exactOptional(
        described(count(), 'The number of the file that has the entry, or that may have it.'),
      ),
      finding: v.exactOptional(
        described(v.string(), 'What is wrong with that file: `altered`, `foreign` or `unsigned`.'),
      ),
      stored: described(entryOrNull, 'The entry in the table, or null.'),
      sealed: described(entryOrNull, 'The entry in the archive, or null.'),
    }),
  );
}

/** An entry that somebody may have changed, so that its fields may have other types. */
function foundEntry(settings: ServiceValues) {
  const value = v.nullable(v.union([v.string(), v.number()]));
  const fields = Object.entries(auditEntry(settings).entries).map(([name, { type }]) => [
    name,
    type === 'exact_optional' ? v.exactOptional(value) : value,
  ]);
  return named(
    'FoundAuditEntry',
    described(
      v.object(Object.fromEntries(fields)),
      'The fields of an `AuditEntry`; if somebody changed them, they may have other types.',
    ),
  );
}

function sealedFile() {
  return named(
    'SealedFile',
    v.object({
      number: described(count(), 'Its number; the first file has 1.'),
      at: described(timestamp(), 'When the run of the sealer began that wrote it.'),
      until: described(timestamp(), 'Entries of before that time are sealed.'),
      count: described(count(), 'How many entries it has.'),
    }),
  );
}

function sealCheck() {
  return named(
    'SealCheck',
    v.object({
      at: timestamp(),
      until: described(timestamp(), 'It covered entries of before that time.'),
      entries: described(count(), 'How many entries it covered so far: those of two days.'),
      total: described(count(), 'These, and those that were sealed since.'),
      next: described(timestamp(), 'When the next one is due.'),
      recent: described(
        v.boolean(),
        'Whether it covered what was there an hour ago, or a day ago where there are more than 20,000 entries, which are checked daily.',
      ),
      findings: described(
        count(),
        'How many findings stand: each until a check covers the same and does not have it again, for 31 days at most.',
      ),
      named: v.pipe(
        v.array(sealFinding()),
        v.maxLength(10),
        v.description('Some of them, ten at most.'),
      ),
      found: described(
        v.nullable(timestamp()),
        'When a check had findings last; null if none ever had.',
      ),
    }),
  );
}

function sealFinding() {
  return named(
    'SealFinding',
    v.object({
      kind: described(
        v.string(),
        'Of an entry `changed`, `deleted` or `inserted`; of a file `altered`, `foreign`, `missing` or `unsigned`.',
      ),
      subject: described(
        v.string(),
        'The id of the entry, or the number and name of the file, or of several.',
      ),
      at: described(timestamp(), 'When a check had it last.'),
    }),
  );
}

function kept() {
  return named(
    'AuditDays',
    v.object({
      table: days(
        'Days for which an entry stays in the table, where queries find it; 0: for ever.',
      ),
      lock: days('Days for which nobody can delete what is sealed; 0: it is not locked.'),
      archive: days('Days for which what is sealed stays in the archive; 0: for ever.'),
    }),
  );
}

function days(description: string) {
  return described(count(), description);
}

function wholeCheck() {
  return named(
    'WholeSealCheck',
    v.object({
      asked_at: described(timestamp(), 'When it was requested.'),
      checked: described(count(), 'How many files it has checked so far.'),
      of: described(v.nullable(count()), 'How many files it checks; null until it has begun.'),
      ended_at: described(
        v.nullable(timestamp()),
        'When it ended, with fewer files than `of` if ten runs in a row could not check the next ones; null until then.',
      ),
    }),
  );
}

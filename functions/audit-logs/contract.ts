import * as v from 'valibot';
import { type AuditEntry, actions, entrySources, results } from '../../lib/audit/entry.ts';
import type { Contract, Descriptions, TextForm } from '../../lib/contract/contract.ts';
import { cursor, instant, ipAddress, limitUpTo, maxLimit } from '../../lib/contract/parameters.ts';
import { id, named, timestamp } from '../../lib/contract/schemas.ts';
import { hasMachines, type ServiceValues } from '../../lib/ground/settings.ts';
import {
  atLeast,
  atMost,
  described,
  type Fields,
  fieldsIf,
  oneOf,
  text,
} from '../../lib/ground/validation.ts';
import { preferredType } from '../../lib/http/request.ts';
import { postedEntries } from '../../lib/options/machines/posted-entry.ts';
import type { Role } from '../../lib/users/user.ts';

/** The maximum number of entries in a response as text, which is also the default. */
export const maxTextLimit = 1000;

export const example = {
  id: 115032113971201,
  user_id: 17,
  action: 'LOGIN',
  resource: 'users',
  resource_id: '17',
  ip_address: '192.0.2.1',
  user_agent: 'curl/8.5.0',
  result: 'SUCCESS',
  details: null,
  created_at: '2026-11-21T09:05:00.000Z',
};

/** The forms of text, by their names in lib/audit/formats.ts. */
export const textForms = {
  ndjson: { contentType: 'application/x-ndjson', example: `${JSON.stringify(example)}\n` },
  csv: {
    contentType: 'text/csv; charset=utf-8',
    example:
      'id,user_id,action,resource,resource_id,ip_address,user_agent,result,details,created_at\r\n115032113971201,17,LOGIN,users,17,192.0.2.1,curl/8.5.0,SUCCESS,,2026-11-21T09:05:00.000Z\r\n',
  },
} as const satisfies Readonly<Record<string, Omit<TextForm, 'schema'>>>;

/** The form of text that an Accept header prefers; undefined: JSON. */
export function preferredForm(accept: string | undefined): keyof typeof textForms | undefined {
  const byType = Object.fromEntries(
    Object.entries(textForms).map(([form, { contentType }]) => [contentType.split(';')[0], form]),
  );
  const type = preferredType(accept, ['application/json', ...Object.keys(byType)]);
  return byType[type] as keyof typeof textForms | undefined;
}

export const list = {
  route: 'GET /api/admin/audit-logs',
  may: 'audit',
  takesSource: true,
  query: (accept: string | undefined, settings: ServiceValues) => ({
    ...filters(settings),
    limit: v.optional(
      described(
        limitUpTo(preferredForm(accept) ? maxTextLimit : maxLimit),
        `The most entries in the response. The maximum, which is also the default, is ${maxLimit} for JSON and ${maxTextLimit} for NDJSON and CSV.`,
      ),
    ),
    cursor: cursor(),
  }),
  refusesOtherParameters: true,
  storageFault: ['Error fetching audit logs', 'err'],
} as const satisfies Contract;

export const create = {
  route: 'POST /api/admin/audit-logs',
  exists: hasMachines,
  may: 'postEntries',
  body: (_settings: ServiceValues, _role: Role, given?: Fields) =>
    named('NewAuditEntries', v.object({ entries: postedEntries(given?.entries) })),
  storageFault: ['Error recording audit entries', 'insertErr'],
} as const satisfies Contract;

export function entries(settings: ServiceValues) {
  const data = v.pipe(v.array(auditEntry(settings)), v.readonly());
  return named('AuditEntries', v.object({ data }));
}

export const tag = 'Audit trail';

const examplePosted = {
  action: 'UPDATE',
  resource: 'shop.orders',
  resourceId: '4711',
  userId: 17,
  result: 'SUCCESS',
};

export const descriptions: Descriptions = {
  create: () => ({
    id: 'postAuditEntries',
    summary: 'Write entries of another service',
    text: '1 to 25 entries. The same request may be sent again: it completes what is missing, and writes nothing twice. After a 500 some entries may be stored.',
    requestHeaders: ['IdempotencyKey'],
    bodyExample: { entries: [examplePosted] },
    success: {
      status: 201,
      description: 'The entries are stored.',
      alternative: { status: 200, description: 'The entries are stored; the key was known.' },
      schema: named(
        'NewAuditEntriesStored',
        v.object({
          data: v.array(
            named('NewAuditEntryStored', v.object({ id: id(), created_at: timestamp() })),
          ),
        }),
      ),
      example: { data: [{ id: example.id, created_at: example.created_at }] },
    },
    errors: ['IDEMPOTENCY_KEY_REQUIRED', 'IDEMPOTENCY_KEY_INVALID', 'IDEMPOTENCY_KEY_USED'],
  }),

  list: (settings) => ({
    id: 'listAuditLogs',
    summary: 'Query the audit trail',
    text: 'Newest first, unless `order` is `asc`. All filters must match. A request reads a bounded number of entries: if few of them match, the page is short or even empty, and its `Link` leads to the next one. A response has at most 4 MB. A request for NDJSON or CSV leaves an audit entry with the action EXPORT. Unknown and repeated parameters are refused.',
    success: {
      status: 200,
      description: 'One page of the entries.',
      schema: entries(settings),
      example: { data: [example] },
      textForms: [
        {
          ...textForms.ndjson,
          schema: named(
            'AuditEntriesAsNdjson',
            described(v.string(), 'One entry a line, in the form that it has in `data`.'),
          ),
        },
        {
          ...textForms.csv,
          schema: named(
            'AuditEntriesAsCsv',
            described(
              v.string(),
              "RFC 4180: a header row, lines that end in CRLF, an empty field for null. A `'` is put before each `=`, `+`, `-`, `@`, tab or CR that begins a value, or that follows a comma, a semicolon, a tab or a line break in it, because a spreadsheet may take what follows for a formula.",
            ),
          ),
        },
      ],
      headers: ['Link'],
    },
  }),
};

export function auditEntry(settings: ServiceValues) {
  return named(
    'AuditEntry',
    v.object({
      id: id(0),
      user_id: described(
        v.nullable(v.pipe(v.number(), v.integer(), v.metadata({ format: 'int64' }))),
        'The user who did it; null when none is known.',
      ),
      action: v.picklist(actions),
      resource: v.pipe(v.string(), v.maxLength(100)),
      resource_id: described(
        v.nullable(v.pipe(v.string(), v.maxLength(100))),
        hasMachines(settings)
          ? 'The user, or the other thing, to which it was done.'
          : 'The user to whom it was done.',
      ),
      ip_address: v.nullable(v.pipe(v.string(), v.maxLength(45))),
      user_agent: v.nullable(v.pipe(v.string(), v.maxLength(1024))),
      result: v.picklist(results),
      details: described(v.nullable(v.string()), 'JSON, after redaction.'),
      created_at: timestamp(),
      ...fieldsIf(hasMachines(settings), fieldsOfMachines()),
    }) satisfies v.GenericSchema<unknown, AuditEntry>,
  );
}

function filters(settings: ServiceValues) {
  return {
    userId: idParameter('Only what this user did.'),
    action: v.optional(described(oneOf(actions), 'Only entries of this action.')),
    result: v.optional(described(oneOf(results), 'Only entries of this result.')),
    resourceId: someText(
      100,
      hasMachines(settings)
        ? 'Only what was done to this user, or to this other thing.'
        : 'Only what was done to this user.',
    ),
    about: idParameter(
      'Only what this user did, or what was done to this user. Not with `userId` or `resourceId`.',
    ),
    ...fieldsIf(hasMachines(settings), filtersByMachines()),
    ipAddress: v.optional(
      described(ipAddress, 'Only what came from this address, in any spelling.'),
    ),
    since: v.optional(
      described(
        instant,
        'Only entries from this time on: a date-time with its offset (write `+` as `%2B`), or a date (UTC).',
      ),
    ),
    until: v.optional(described(instant, 'Only entries before this time, in the same form.')),
    order: v.optional(
      v.pipe(
        described(oneOf(['desc', 'asc']), 'Newest first (`desc`), or oldest first.'),
        v.metadata({ default: 'desc' }),
      ),
    ),
  };
}

function filtersByMachines() {
  return {
    from: v.optional(
      described(
        oneOf(entrySources),
        'Only entries of the service itself, or only entries that machines have posted.',
      ),
    ),
    resource: someText(100, 'Only entries of this resource, of which `resourceId` then is an id.'),
    machineId: idParameter('Only what this machine did, posted, or named the address of.'),
  };
}

const integerRule = 'must be an integer';

function idParameter(description: string) {
  const id = v.pipe(
    v.string(),
    v.regex(/^-?\d+$/, integerRule),
    v.transform(Number),
    v.number(),
    v.safeInteger(integerRule),
    v.metadata({ format: 'int64' }),
  );
  return v.optional(described(id, description));
}

function someText(most: number, description: string) {
  const some = v.pipe(
    text,
    atLeast(() => 1),
    atMost(most),
  );
  return v.optional(described(some, description));
}

function fieldsOfMachines() {
  return {
    machine_id: v.exactOptional(
      described(
        v.nullable(id()),
        'The machine that did it, posted the entry, or named the address.',
      ),
    ),
    occurred_at: v.exactOptional(
      described(
        v.nullable(timestamp()),
        'When it happened, by the word of the machine that posted the entry.',
      ),
    ),
  };
}

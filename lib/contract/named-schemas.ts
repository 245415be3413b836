/**
 * The schemas with a name in the document: those of all bodies, and of the objects in them. The
 * names are part of the contract, because generators name types after them: a body has the same
 * name under every setting.
 *
 * Schemas that only the document needs are made here, apart from the operations, so that the
 * bundles of other functions leave them out.
 */
import * as v from 'valibot';
import { type AuditEntry, actions, results } from '../audit/entry.ts';
import {
  codeConfirmation,
  credentials,
  fullConfirmation,
  passwordConfirmation,
  refreshRequest,
} from '../auth/credentials.ts';
import { hasSessions, type ServiceValues } from '../settings.ts';
import { emailVerification, nameAndEmail, nameOrEmail, resetRequest } from '../users/fields.ts';
import { newUser, newUserByAdmin, passwordReset, userChanges } from '../users/schema.ts';
import { roles, type User } from '../users/user.ts';

const userId = v.pipe(
  v.number(),
  v.integer(),
  v.minValue(1),
  v.maxValue(Number.MAX_SAFE_INTEGER),
  v.metadata({ format: 'int64' }),
);

/** ISO 8601, UTC, milliseconds. */
const timestamp = v.pipe(v.string(), v.isoTimestamp());

/** A user as responses show it (functions/README.md, Responses): never with the password hash. */
export const user = v.object({
  id: userId,
  name: v.string(),
  email: v.string(),
  role: v.picklist(roles),
  created_at: timestamp,
}) satisfies v.GenericSchema<unknown, User>;

/** A user of the in-memory variant. */
export const memoryUser = v.object({
  id: userId,
  name: v.string(),
  email: v.string(),
  createdAt: timestamp,
});

/** An audit entry, as it is stored and as responses show it. */
const auditEntry = v.object({
  id: v.pipe(
    v.number(),
    v.integer(),
    v.minValue(0),
    v.maxValue(Number.MAX_SAFE_INTEGER),
    v.metadata({ format: 'int64' }),
  ),
  user_id: v.pipe(
    v.nullable(v.pipe(v.number(), v.integer(), v.metadata({ format: 'int64' }))),
    v.description('The user who did it; null when none is known.'),
  ),
  action: v.picklist(actions),
  resource: v.pipe(v.string(), v.maxLength(100)),
  resource_id: v.pipe(
    v.nullable(v.pipe(v.string(), v.maxLength(100))),
    v.description('The user to whom it was done.'),
  ),
  ip_address: v.nullable(v.pipe(v.string(), v.maxLength(45))),
  user_agent: v.nullable(v.pipe(v.string(), v.maxLength(1024))),
  result: v.picklist(results),
  details: v.pipe(v.nullable(v.string()), v.description('JSON, after redaction.')),
  created_at: timestamp,
}) satisfies v.GenericSchema<unknown, AuditEntry>;

const verifiedUser = v.object({
  ...user.entries,
  email_verified: v.pipe(v.boolean(), v.description('Whether the user has verified the address.')),
  pending_email: v.exactOptional(
    v.pipe(
      v.string(),
      v.description(
        'Another address that the user has asked for, for as long as it waits for its mailed link. Absent when there is none, and for callers who are neither the user nor an admin.',
      ),
    ),
  ),
});

/**
 * A user under some settings: with `email_verified` and `pending_email` where addresses are verified.
 */
export const userUnder = ({ emailVerification: setting }: ServiceValues) =>
  setting === 'off' ? user : verifiedUser;

/** The response to a registration or a login. */
const session = v.object({
  message: v.string(),
  token: v.pipe(v.string(), v.description('A bearer token (JWT, RFC 7519), valid for one day.')),
});

const sessionWithRefresh = v.object({
  ...session.entries,
  refreshToken: v.pipe(
    v.string(),
    v.description(
      'Exchanged once for new tokens by POST /api/refresh, and a secret like the token.',
    ),
  ),
});

/** The tokens under some settings: with a refresh token where there are sessions. */
export const sessionUnder = (settings: ServiceValues) =>
  hasSessions(settings) ? sessionWithRefresh : session;

const sessionOfUser = v.object({
  id: v.string(),
  created_at: timestamp,
  last_used_at: v.pipe(timestamp, v.description('When it last got a new token.')),
  expires_at: timestamp,
  ip_address: v.nullable(v.string()),
  user_agent: v.pipe(v.nullable(v.string()), v.description('Its first 120 bytes.')),
  current: v.pipe(v.boolean(), v.description('Whether it is that of the request.')),
});

export const sessions = v.object({ data: v.array(sessionOfUser) });

const profileData = v.pick(user, ['id', 'name', 'email', 'role']);
const profile = v.object({ data: profileData });
const verifiedProfileData = v.omit(verifiedUser, ['created_at']);
const verifiedProfile = v.object({ data: verifiedProfileData });
export const profileUnder = ({ emailVerification: setting }: ServiceValues) =>
  setting === 'off' ? profile : verifiedProfile;

export const secondFactor = v.object({
  enabled: v.boolean(),
  recovery_codes_left: v.pipe(v.number(), v.integer(), v.minValue(0)),
});

export const secondFactorEnrolment = v.object({
  secret: v.pipe(v.string(), v.description('Base32 (RFC 4648), to be typed into an app.')),
  uri: v.pipe(v.string(), v.description('The same as an app reads it from a QR code.')),
});

export const recoveryCodes = v.object({ recoveryCodes: v.array(v.string()) });

/** An empty code counts as none. */
const optionalCode = v.exactOptional(
  v.pipe(
    v.string(),
    v.description('Required of users who have a second factor: of the app, or a recovery code.'),
  ),
);

/** The body of a login, with the code where there are second factors. */
export const credentialsUnder = ({ secondFactor: setting }: ServiceValues) =>
  setting === 'off' ? credentials : credentialsWithCode;

const accountDeletion = v.object(passwordConfirmation.entries);
const accountDeletionWithCode = v.object({
  ...passwordConfirmation.entries,
  code: optionalCode,
});

/** The body of a deletion of one's own account, with the code where there are second factors. */
export const accountDeletionUnder = ({ secondFactor: setting }: ServiceValues) =>
  setting === 'off' ? accountDeletion : accountDeletionWithCode;

/** The response to a request for a password reset. */
export const message = v.object({ message: v.string() });

const users = v.pipe(v.array(user), v.readonly());
const verifiedUsers = v.pipe(v.array(verifiedUser), v.readonly());
export const usersUnder = ({ emailVerification: setting }: ServiceValues) =>
  setting === 'off' ? users : verifiedUsers;

const credentialsWithCode = v.object({
  ...credentials.entries,
  code: optionalCode,
});

const ownUserChanges = v.pipe(
  v.object({
    ...userChanges.entries,
    currentPassword: v.exactOptional(
      v.pipe(
        v.string(),
        v.description('Required of users who change their own password or address.'),
        v.metadata({ format: 'password' }),
      ),
    ),
  }),
  v.metadata({ minProperties: 1 }),
);

/** The body of a change of a user, with the current password where that is required. */
export const userChangesUnder = (settings: ServiceValues) =>
  hasSessions(settings) ? ownUserChanges : userChanges;

export const auditEntries = v.object({ data: v.pipe(v.array(auditEntry), v.readonly()) });

export const auditEntriesAsNdjson = v.pipe(
  v.string(),
  v.description('One entry a line, in the form that it has in `data`.'),
);

export const auditEntriesAsCsv = v.pipe(
  v.string(),
  v.description(
    "RFC 4180: a header row, lines that end in CRLF, an empty field for null. A `'` is put before each `=`, `+`, `-`, `@`, tab or CR that begins a value, or that follows a comma, a semicolon, a tab or a line break in it, because a spreadsheet may take what follows for a formula.",
  ),
);

const count = v.pipe(v.number(), v.integer(), v.minValue(0));

const sealedFile = v.object({
  number: v.pipe(count, v.description('Its number; the first file has 1.')),
  at: v.pipe(timestamp, v.description('When the run of the sealer began that wrote it.')),
  until: v.pipe(timestamp, v.description('Entries of before that time are sealed.')),
  count: v.pipe(count, v.description('How many entries it has.')),
});

const sealCheck = v.object({
  at: timestamp,
  findings: v.pipe(count, v.description('How many findings it had.')),
  found: v.pipe(
    v.nullable(timestamp),
    v.description('When a check had findings last; null if none ever had.'),
  ),
});

/** How the sealed trail stands. */
export const auditSealSummary = v.object({
  key: v.pipe(v.string(), v.description('SHA-256 of the public key (SPKI, DER), hexadecimal.')),
  interval: v.pipe(count, v.description('Seconds from one run of the sealer to the next.')),
  newest: v.pipe(
    v.nullable(sealedFile),
    v.description('The newest file; null before the first is sealed.'),
  ),
  behind: v.pipe(
    v.nullable(count),
    v.description(
      'Null while sealing keeps up, and before the first file is sealed. Otherwise the seconds since `until` of the newest file: that is longer ago than three intervals and a grace (of one interval, a minute at most), and than five minutes.',
    ),
  ),
  check: v.pipe(
    v.nullable(sealCheck),
    v.description('The last check by the sealer; null before the first.'),
  ),
});

/** A user in memory as the list shows it, without the time of creation. */
const listedMemoryUser = v.pick(user, ['id', 'name', 'email']);
export const memoryUsers = v.array(listedMemoryUser);

export const openApiDocument = v.record(v.string(), v.unknown());
export const docsPage = v.pipe(v.string(), v.description('HTML.'));
export const docsScript = v.pipe(v.string(), v.description('A script.'));
export const docsStyleSheet = v.pipe(v.string(), v.description('A style sheet.'));
export const consolePage = v.pipe(v.string(), v.description('HTML.'));
export const consoleScript = v.pipe(v.string(), v.description('A script.'));
export const consoleStyleSheet = v.pipe(v.string(), v.description('A style sheet.'));

/** Schemas by their names. */
export type NamedSchemas = Readonly<Record<string, v.GenericSchema>>;

/** Those of accounts and their sessions. */
const accountSchemas = (settings: ServiceValues): NamedSchemas => ({
  NewUser: newUser,
  Credentials: credentialsUnder(settings),
  Session: sessionUnder(settings),
  RefreshRequest: refreshRequest,
  SessionOfUser: sessionOfUser,
  Sessions: sessions,
  Profile: profileUnder(settings),
  ProfileData: settings.emailVerification === 'off' ? profileData : verifiedProfileData,
  AccountDeletion: accountDeletionUnder(settings),
  PasswordConfirmation: passwordConfirmation,
  CodeConfirmation: codeConfirmation,
  PasswordAndCode: fullConfirmation,
  SecondFactor: secondFactor,
  SecondFactorEnrolment: secondFactorEnrolment,
  RecoveryCodes: recoveryCodes,
  PasswordResetRequest: resetRequest,
  PasswordReset: passwordReset,
  EmailVerification: emailVerification,
});

/** All of them, in the order of the document. */
export const namedSchemas = (settings: ServiceValues): NamedSchemas => ({
  ...accountSchemas(settings),
  Message: message,
  User: userUnder(settings),
  Users: usersUnder(settings),
  NewUserWithRole: newUserByAdmin,
  UserChanges: userChangesUnder(settings),
  AuditEntry: auditEntry,
  AuditEntries: auditEntries,
  AuditEntriesAsNdjson: auditEntriesAsNdjson,
  AuditEntriesAsCsv: auditEntriesAsCsv,
  AuditSealSummary: auditSealSummary,
  SealedFile: sealedFile,
  SealCheck: sealCheck,
  MemoryUser: memoryUser,
  MemoryUsers: memoryUsers,
  ListedMemoryUser: listedMemoryUser,
  NameAndEmail: nameAndEmail,
  NameOrEmail: nameOrEmail,
  OpenApiDocument: openApiDocument,
  DocsPage: docsPage,
  DocsScript: docsScript,
  DocsStyleSheet: docsStyleSheet,
  ConsolePage: consolePage,
  ConsoleScript: consoleScript,
  ConsoleStyleSheet: consoleStyleSheet,
});

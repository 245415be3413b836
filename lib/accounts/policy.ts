/**
 * Who may do what (functions/README.md, Callers). Each contract names a row of the one table in this file. Flows check
 * the row again where the decision depends on the user whom the request is about.
 */
import { DomainError } from '../ground/errors.ts';
import { config, hasAttributes, hasSessions, sendsMail } from '../ground/settings.ts';
import type { Fields } from '../ground/validation.ts';
import { namesNoAttribute, namesNoAttributeOfAdmins } from '../options/attributes/attributes.ts';
import type { Scope } from '../options/machines/machine.ts';
import { lacksFactorIn } from '../options/second-factor/state.ts';
import type { Bearer } from '../options/sessions/bearer.ts';
import type { StoredUser } from '../users/item.ts';
import { type Role, statusesUnder } from '../users/user.ts';

/** They come from the token or, where there are sessions, from the stored user. */
export interface Standing {
  /** The role in force; absent: the caller has no token. */
  readonly role?: Role | undefined;
  /** Whether the caller is an auditor in force. */
  readonly isAuditor?: boolean;
  /** The scopes of a machine that calls, which has no role; absent: no machine calls. */
  readonly scopes?: readonly Scope[];
  /** The stored standing of a caller who lacks the second factor that this standing requires. */
  readonly withFactor?: Standing;
}

/** A user who calls, or a machine, which has no id of a user. */
export interface Caller extends Standing {
  readonly id?: number | undefined;
}

export interface Asking extends Standing {
  /** Whether the request is about the caller. */
  readonly isSelf: boolean;
  /** Whether the caller may have made the user, which is known only once the user is read. */
  readonly mayBeMaker: boolean;
}

/** Whether a kind of caller may send the fields of a body, or the query parameters of a GET. */
type Rule = (given: Fields, asking: Asking) => boolean;

const always: Rule = () => true;
const whileOpen: Rule = () => config.accounts === 'open';
const namesNoOtherRole: Rule = ({ role }) => (role ?? 'user') === 'user';
const namesNoAuditor: Rule = ({ auditor }) => !hasSessions(config) || auditor === undefined;
/** The parameters `attributes` and `seenBefore` are unknown where their option is off. */
const asksForNoMore: Rule = ({ search, attributes, seenBefore }) =>
  search === undefined &&
  (attributes === undefined || !hasAttributes(config)) &&
  (seenBefore === undefined || !hasSessions(config));
const asksForNoAdmin: Rule = ({ role }) => role !== 'admin';
/** The field `invite` is unknown where the service sends no mails. */
const invitesNobody: Rule = ({ invite = false }) => invite === false || !sendsMail(config);
/** The parameter `status` is unknown where no option has one. */
const namesNoStatus: Rule = ({ status }) =>
  status === undefined || statusesUnder(config).length === 0;
const asksForNoWhole: Rule = ({ whole = false }) => whole === false;
/** Callers may send their own role unchanged; but an admin who lacks a second factor may not send a role. */
const keepsRole: Rule = (given, asking) =>
  asking.withFactor?.role === 'admin' ? given.role === undefined : namesNoOtherRole(given, asking);
/** Of a user, machines change names and attributes alone. */
const namesNoWayIn: Rule = (given, asking) =>
  [given.role, given.password, given.email].every((value) => value === undefined) &&
  namesNoAuditor(given, asking);
/** Callers may send their own auditor flag unchanged. */
const keepsAuditor: Rule = (given, asking) =>
  namesNoAuditor(given, asking) || given.auditor === (asking.withFactor ?? asking).isAuditor;

/** The kinds of callers of an operation. A caller may be of several kinds: it is enough that one of them is allowed. */
interface Row {
  readonly anyone?: Rule;
  /** Any caller with a token. */
  readonly user?: Rule;
  readonly self?: Rule;
  readonly maker?: Rule;
  readonly auditor?: Rule;
  readonly admin?: Rule;
  /** A machine, by its scopes. */
  readonly machine?: Partial<Record<Scope, Rule>>;
}

// biome-ignore format: a table
const table = {
  /** Registration, login, and other operations that need no account. */
  public:     { anyone: always },
  /** A registration, which is public too. */
  register:   { anyone: namesNoAttributeOfAdmins },
  /** Operations about the caller alone: the profile, logout, factors, identities. */
  own:        { user: always },
  listUsers:  { user: all(asksForNoMore, namesNoStatus, namesNoAuditor), auditor: always, admin: always,
                machine: { 'users:read': always } },
  createUser: { user: all(whileOpen, invitesNobody, asksForNoAdmin, namesNoAttributeOfAdmins), admin: always,
                machine: { 'users:write': asksForNoAdmin } },
  readUser:   { user: whileOpen, self: always,                   auditor: always, admin: always,
                machine: { 'users:read': always } },
  changeUser: { self: all(keepsRole, keepsAuditor, namesNoAttributeOfAdmins),
                maker: all(whileOpen, namesNoOtherRole, namesNoAuditor, namesNoAttribute),
                                                                                  admin: always,
                machine: { 'users:write': namesNoWayIn } },
  inviteUser: { admin: always, machine: { 'users:write': always } },
  sessionsOf: { self: always,                                                     admin: always },
  /** The audit trail, its seal, and the settings. */
  audit:      {                                                  auditor: always, admin: always,
                machine: { 'audit:read': always } },
  requestCheck: {                                                auditor: asksForNoWhole, admin: always },
  /** Writing entries of other services into the trail. */
  postEntries: { machine: { 'audit:write': always } },
  /** Looking at machines, and managing them. */
  readMachines: {                                                auditor: always, admin: always },
  machines:   {                                                                   admin: always },
  /** Deleting, suspending. */
  administer: {                                                                   admin: always },
  /** The same, for operations that admins cannot do to themselves. */
  administerOthers: {                                        admin: (_, { isSelf }) => !isSelf },
} as const satisfies Readonly<Record<string, Row>>;

/**
 * The standing of a caller in the session of the request. Where admins need a second factor, callers in a session
 * without a second factor have the role `user`, and are not auditors.
 */
export function standingOf(caller: Bearer): Standing & Pick<StoredUser, 'role'> {
  const stored = { role: caller.role, isAuditor: caller.auditor === true };
  return lacksFactorIn(caller, caller.session)
    ? { role: 'user', isAuditor: false, withFactor: stored }
    : stored;
}

/** Whether a caller sees all fields that responses show of any user; machines see them wherever they have the scope. */
export function seesAll({ role, isAuditor, scopes }: Standing): boolean {
  return role === 'admin' || isAuditor === true || scopes !== undefined;
}

export type Operation = keyof typeof table;

/** A row of the operations that need no token. */
export type PublicOperation = {
  [Name in Operation]: (typeof table)[Name] extends { anyone: Rule } ? Name : never;
}[Operation];

/** A row of the operations that machines can do, too. */
export type MachineOperation = {
  [Name in Operation]: (typeof table)[Name] extends { machine: object } ? Name : never;
}[Operation];

/** A row of the operations that only machines can do. */
export type MachineOnlyOperation = {
  [Name in MachineOperation]: (typeof table)[Name] extends { admin: Rule } ? never : Name;
}[MachineOperation];

/** The scopes with which machines can do an operation. */
export function scopesFor(operation: Operation): readonly string[] {
  return Object.keys((table[operation] as Row).machine ?? {});
}

/**
 * Requires that a caller is allowed to do an operation.
 * @param given the body, or the query of a GET
 * @throws {DomainError} FORBIDDEN, or SECOND_FACTOR_REQUIRED for a caller who would be allowed with a second factor
 */
export function requireAllowed(operation: Operation, asking: Asking, given: Fields = {}): void {
  if (isAllowed(operation, asking, given)) return;
  const { withFactor } = asking;
  const lacksFactor = withFactor && isAllowed(operation, { ...asking, ...withFactor }, given);
  throw new DomainError(lacksFactor ? 'SECOND_FACTOR_REQUIRED' : 'FORBIDDEN');
}

function isAllowed(operation: Operation, asking: Asking, given: Fields): boolean {
  const { anyone, user, self, maker, auditor, admin, machine } = table[operation] as Row;
  const rules = [
    anyone,
    asking.role ? user : undefined,
    asking.isSelf ? self : undefined,
    asking.mayBeMaker ? maker : undefined,
    asking.isAuditor ? auditor : undefined,
    asking.role === 'admin' ? admin : undefined,
    ...(asking.scopes ?? []).map((scope) => machine?.[scope]),
  ];
  return rules.some((rule) => rule?.(given, asking));
}

function all(...rules: readonly Rule[]): Rule {
  return (given, asking) => rules.every((rule) => rule(given, asking));
}

/**
 * Who may do what (functions/README.md, Callers). Contracts name rows of this one table. Flows ask it again where
 * the answer depends on the user whom the request is about.
 */
import { DomainError } from '../ground/errors.ts';
import { config, hasAttributes, hasSessions, sendsMail } from '../ground/settings.ts';
import type { Fields } from '../ground/validation.ts';
import { namesNoAttribute, namesNoAttributeOfAdmins } from '../options/attributes/attributes.ts';
import { lacksFactorIn } from '../options/second-factor/state.ts';
import type { Bearer } from '../options/sessions/bearer.ts';
import type { StoredUser } from '../users/item.ts';
import type { Role } from '../users/user.ts';

/** The role of a caller, and whether the caller is an auditor: by the token or, where there are sessions, as stored. */
export interface Standing {
  /** The role in force; absent: the caller has no token. */
  readonly role?: Role | undefined;
  /** Whether the caller is an auditor in force. */
  readonly isAuditor?: boolean;
  /** The standing as stored of a caller who lacks a second factor for it. */
  readonly withFactor?: Standing;
}

/** Who asks. */
export interface Asking extends Standing {
  /** Whether the request is about the caller. */
  readonly isSelf: boolean;
  /**
   * Whether the caller may have made the user whom the request is about, which is known only once that user is
   * read.
   */
  readonly mayBeMaker: boolean;
}

/** Whether a kind of caller may ask for what is in a body, or in the query of a GET. */
type Rule = (given: Fields, asking: Asking) => boolean;

const always: Rule = () => true;
const whileOpen: Rule = () => config.accounts === 'open';
const namesNoOtherRole: Rule = ({ role }) => (role ?? 'user') === 'user';
const namesNoAuditor: Rule = ({ auditor }) => !hasSessions(config) || auditor === undefined;
/** Where no attribute is declared, the parameter is unknown. */
const asksForNoMore: Rule = ({ search, attributes }) =>
  search === undefined && (attributes === undefined || !hasAttributes(config));
const asksForNoAdmin: Rule = ({ role }) => role !== 'admin';
/** Where there are no mails, the field is unknown. */
const invitesNobody: Rule = ({ invite = false }) => invite === false || !sendsMail(config);
/** The caller's own role, sent back, is no change; but an admin who lacks a second factor may not name a role. */
const keepsRole: Rule = (given, asking) =>
  asking.withFactor?.role === 'admin' ? given.role === undefined : namesNoOtherRole(given, asking);
/** The caller's own auditor flag, sent back, is no change. */
const keepsAuditor: Rule = (given, asking) =>
  namesNoAuditor(given, asking) || given.auditor === (asking.withFactor ?? asking).isAuditor;

/** The kinds of callers of an operation. A caller may be of several: one that may is enough. */
interface Row {
  readonly anyone?: Rule;
  /** Whoever has a token. */
  readonly user?: Rule;
  readonly self?: Rule;
  readonly maker?: Rule;
  readonly auditor?: Rule;
  readonly admin?: Rule;
}

// biome-ignore format: a table
const table = {
  /** Registration, login, and what needs no account. */
  public:     { anyone: always },
  /** A registration, which is public too. */
  register:   { anyone: namesNoAttributeOfAdmins },
  /** Operations about the caller alone: the profile, logout, factors, identities. */
  own:        { user: always },
  listUsers:  { user: asksForNoMore,                            auditor: always, admin: always },
  createUser: { user: all(whileOpen, invitesNobody, asksForNoAdmin, namesNoAttributeOfAdmins), admin: always },
  readUser:   { user: whileOpen, self: always,                   auditor: always, admin: always },
  changeUser: { self: all(keepsRole, keepsAuditor, namesNoAttributeOfAdmins),
                maker: all(whileOpen, namesNoOtherRole, namesNoAuditor, namesNoAttribute),
                                                                                  admin: always },
  /** The sessions of a user. */
  sessionsOf: { self: always,                                                     admin: always },
  /** The audit trail, and its seal. */
  audit:      {                                                  auditor: always, admin: always },
  /** Deleting, suspending. */
  administer: {                                                                   admin: always },
  /** The same for what an admin cannot do to itself. */
  administerOthers: {                                        admin: (_, { isSelf }) => !isSelf },
} as const satisfies Readonly<Record<string, Row>>;

/**
 * The standing of a caller in the session of the request. Where admins need a second factor, callers in a session
 * without one have the role `user`, and are no auditors.
 */
export function standingOf(caller: Bearer): Standing & Pick<StoredUser, 'role'> {
  const stored = { role: caller.role, isAuditor: caller.auditor === true };
  return lacksFactorIn(caller, caller.session)
    ? { role: 'user', isAuditor: false, withFactor: stored }
    : stored;
}

/** Whether a caller sees all that is shown of any user. */
export function seesAll({ role, isAuditor }: Standing): boolean {
  return role === 'admin' || isAuditor === true;
}

/** A row of the table. */
export type Operation = keyof typeof table;

/** A row of what needs no token. */
export type PublicOperation = {
  [Name in Operation]: (typeof table)[Name] extends { anyone: Rule } ? Name : never;
}[Operation];

/**
 * Requires that a caller may do something.
 * @param given the body, or the query of a GET
 * @throws {DomainError} FORBIDDEN, or SECOND_FACTOR_REQUIRED for a caller who may once there is a factor
 */
export function requireAllowed(operation: Operation, asking: Asking, given: Fields = {}): void {
  if (isAllowed(operation, asking, given)) return;
  const { withFactor } = asking;
  const lacksFactor = withFactor && isAllowed(operation, { ...asking, ...withFactor }, given);
  throw new DomainError(lacksFactor ? 'SECOND_FACTOR_REQUIRED' : 'FORBIDDEN');
}

function isAllowed(operation: Operation, asking: Asking, given: Fields): boolean {
  const { anyone, user, self, maker, auditor, admin } = table[operation] as Row;
  const rules = [
    anyone,
    asking.role ? user : undefined,
    asking.isSelf ? self : undefined,
    asking.mayBeMaker ? maker : undefined,
    asking.isAuditor ? auditor : undefined,
    asking.role === 'admin' ? admin : undefined,
  ];
  return rules.some((rule) => rule?.(given, asking));
}

function all(...rules: readonly Rule[]): Rule {
  return (given, asking) => rules.every((rule) => rule(given, asking));
}

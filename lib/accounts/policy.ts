/**
 * Who may do what (functions/README.md, Callers): the one table that contracts name rows of, and that flows
 * ask again where it depends on the user who is asked for.
 */
import { DomainError } from '../ground/errors.ts';
import { config } from '../ground/settings.ts';
import type { Fields } from '../ground/validation.ts';
import { hasFactor } from '../options/second-factor/state.ts';
import type { StoredUser } from '../users/item.ts';
import type { Role } from '../users/user.ts';

/** Who asks. */
export interface Asking {
  /** The role in force; absent: the caller has no token. */
  readonly role?: Role | undefined;
  /** Whether the caller asks for itself. */
  readonly isSelf: boolean;
  /** Whether the caller may have made the user whom it asks for; nobody knows before that one is read. */
  readonly mayBeMaker: boolean;
  /** Whether the caller is an admin who lacks a second factor, and so has the role `user`. */
  readonly lacksFactor: boolean;
}

/** Whether a kind of caller may ask for what is in a body, or in the query of a GET. */
type Rule = (given: Fields, asking: Asking) => boolean;

const always: Rule = () => true;
const whileOpen: Rule = () => config.accounts === 'open';
const namesNoOtherRole: Rule = (given) => (given.role ?? 'user') === 'user';
/** One's own role, sent back, is no change; but an admin who lacks a second factor may not name one. */
const keepsRole: Rule = (given, asking) =>
  namesNoOtherRole(given, asking) && (given.role === undefined || !asking.lacksFactor);

/** The kinds of callers of an operation. A caller may be of several: one that may is enough. */
interface Row {
  readonly anyone?: Rule;
  /** Whoever has a token. */
  readonly user?: Rule;
  readonly self?: Rule;
  readonly maker?: Rule;
  readonly admin?: Rule;
}

// biome-ignore format: a table
const table = {
  /** Registration, login, and what needs no account. */
  public:     { anyone: always },
  /** Operations about the caller alone: the profile, logout, factors, identities. */
  own:        { user: always },
  listUsers:  { user: ({ search }) => search === undefined,                       admin: always },
  createUser: { user: all(whileOpen, ({ role }) => role !== 'admin'),             admin: always },
  readUser:   { user: whileOpen, self: always,                                    admin: always },
  changeUser: { self: keepsRole, maker: all(whileOpen, namesNoOtherRole),         admin: always },
  /** The sessions of a user. */
  sessionsOf: { self: always,                                                     admin: always },
  /** Deleting, suspending, the audit trail. */
  administer: {                                                                   admin: always },
  /** The same for what an admin cannot do to itself. */
  administerOthers: {                                        admin: (_, { isSelf }) => !isSelf },
} as const satisfies Readonly<Record<string, Row>>;

/** The role in force: where admins need a second factor, one without it is a `user`. */
export function roleInForce(user: StoredUser): Role {
  return config.secondFactor === 'admins' && !hasFactor(user) ? 'user' : user.role;
}

/** Whether a caller is an admin who lacks a second factor, and so has another role in force. */
export function lacksFactor(caller: StoredUser | undefined, inForce: Role | undefined): boolean {
  return caller !== undefined && caller.role !== inForce;
}

/** A row of the table. */
export type Operation = keyof typeof table;

/**
 * Requires that a caller may do something.
 * @param given the body, or the query of a GET
 * @throws {DomainError} FORBIDDEN, or SECOND_FACTOR_REQUIRED for an admin who may once there is a factor
 */
export function requireAllowed(operation: Operation, asking: Asking, given: Fields = {}): void {
  const { anyone, user, self, maker, admin } = table[operation] as Row;
  const rules = [
    anyone,
    asking.role ? user : undefined,
    asking.isSelf ? self : undefined,
    asking.mayBeMaker ? maker : undefined,
    asking.role === 'admin' ? admin : undefined,
  ];
  if (rules.some((rule) => rule?.(given, asking))) return;
  throw new DomainError(asking.lacksFactor ? 'SECOND_FACTOR_REQUIRED' : 'FORBIDDEN');
}

function all(...rules: readonly Rule[]): Rule {
  return (given, asking) => rules.every((rule) => rule(given, asking));
}

/** How an update of a user is written: on the condition that the user is still as it was read. */
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { isConditionFailure, send, type TransactItem, transact } from '../dynamodb/client.ts';
import { DomainError, type ErrorCode } from '../errors.ts';
import { config } from '../settings.ts';
import { requireAdmin } from './admins.ts';
import { adminListing, emailItemKey, type StoredUser, userKey, voidLink } from './items.ts';
import { endingSessions, type NamedSession } from './sessions.ts';
import { emailKey, type Role, type User } from './user.ts';

/** A condition under which a caller may change a user. It must still hold at the write. */
export interface Permission {
  /** The user, as read when the permission was checked. */
  readonly user: StoredUser;
  /** Fields whose change ends the permission, each with its error. */
  readonly endsWith: Readonly<Partial<Record<'email' | 'made_by', ErrorCode>>>;
  /**
   * The session of users who change themselves, which must not have been ended, and goes on; null: it
   * has ended, and none goes on.
   */
  readonly session?: NamedSession | null;
  /** The password that the user must have; absent where the change does not require one. */
  readonly currentPassword?: string;
}

/** The caller who changes a user, and the conditions of the change. */
export interface ChangeContext {
  /**
   * Id of the caller, who must be an admin at that instant to make another one; absent: an
   * operator.
   */
  readonly callerId?: number;
  /** Absent where nothing must still hold. */
  readonly permission?: Permission | undefined;
  /** Whether the service mails links for password resets, which a change of address makes void. */
  readonly mailsLinks?: boolean;
  /** Whether another address counts as verified; absent where EMAIL_VERIFICATION is off. */
  readonly provesAddress?: boolean;
}

/** The outcome of a write: it was made; it was refused, because the user had changed; or unknown. */
export type Written = 'written' | 'conflict' | 'unknown';

/** The fields that an update may write. */
export interface UserUpdate {
  readonly name?: string;
  readonly email?: string;
  readonly role?: Role;
  readonly password_hash?: string;
  readonly email_verified?: boolean;
  /** Undefined: no address waits for its link any more. */
  readonly pending_email?: string | undefined;
  readonly pending_until?: number;
  readonly pending_id?: string;
}

/** Whether an update gives a user another address. */
const movesUser = (user: User, { email = user.email }: UserUpdate) => email !== user.email;

/** Whether an update ends the wait for the link to another address. */
const endsWait = (user: User, update: UserUpdate) =>
  movesUser(user, update) || ('pending_email' in update && update.pending_email === undefined);

/** Whether an update gives a user a password, even the same one, or another address. */
const setsCredentials = (user: User, update: UserUpdate) =>
  update.password_hash !== undefined || movesUser(user, update);

/** Whether an update ends the permission of whoever made the user. */
const endsMaking = (user: StoredUser, update: UserUpdate, { callerId }: ChangeContext) =>
  update.role === 'admin' || (setsCredentials(user, update) && user.made_by !== callerId);

/** A user as an update leaves it. */
export const updated = (user: StoredUser, update: UserUpdate): StoredUser => ({
  ...user,
  ...update,
  ...(movesUser(user, update) ? { pending_email: undefined } : {}),
});

/**
 * The expressions of an update. Only the item of an admin has the key of the index of admins. An
 * update of the password or the address by anybody but the user's maker removes `made_by`, and with
 * it the maker's permission; so does one that makes the user an admin. Another address ends the wait
 * for the link to one.
 */
const assignments = (user: StoredUser, update: UserUpdate, context: ChangeContext) => {
  const isAdmin = update.role === 'admin';
  const fields = isAdmin ? { ...update, admin_listing: adminListing } : update;
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  const set = `SET ${entries.map(([name]) => `#${name} = :${name}`).join(', ')}`;
  const removed = [
    ...(update.role === 'user' ? ['admin_listing'] : []),
    ...(endsMaking(user, update, context) ? ['made_by'] : []),
    ...(endsWait(user, update) ? ['pending_email', 'pending_until', 'pending_id'] : []),
  ];
  return {
    UpdateExpression: removed.length > 0 ? `${set} REMOVE ${removed.join(', ')}` : set,
    ExpressionAttributeNames: Object.fromEntries(entries.map(([name]) => [`#${name}`, name])),
    ExpressionAttributeValues: Object.fromEntries(
      entries.map(([name, value]) => [`:${name}`, value]),
    ),
  };
};

/** Fields that responses show: they must be unchanged since the user was read. */
const shown = ['name', 'email', 'role'] as const;

/** The fields that must be unchanged where a {@link Permission} was checked with them. */
const permitting = [...shown, 'password_hash', 'session_epoch', 'made_by', 'pending_id'] as const;

const isDemotion = (user: User, role: Role) => user.role === 'admin' && role !== 'admin';

/**
 * A new password, even the same one, and a demotion end the earlier sessions; so does another address
 * that users give themselves.
 */
const endsSessions = (user: User, update: UserUpdate, { permission }: ChangeContext) => {
  const { role = user.role } = update;
  const isOwn = permission?.session !== undefined;
  const setsPassword = isOwn ? setsCredentials(user, update) : update.password_hash !== undefined;
  return setsPassword || isDemotion(user, role);
};

/**
 * Extends an update by the end of sessions. The one that asked for it goes on, unless the role
 * changes.
 */
const endingEarlier = (
  user: StoredUser,
  { role = user.role }: UserUpdate,
  { permission }: ChangeContext,
  expressions: ReturnType<typeof assignments>,
) => {
  const session = role === user.role ? permission?.session : undefined;
  return endingSessions(expressions, { user, session });
};

/** The condition that a user item is still as it was read, for an update or a deletion. */
export const whileAsRead = (user: StoredUser, permission: Permission | undefined) => {
  const names: readonly (typeof permitting)[number][] = permission ? permitting : shown;
  const present = names.filter((name) => user[name] !== undefined);
  const held = names.map((name) =>
    present.includes(name) ? `#${name} = :current_${name}` : `attribute_not_exists(#${name})`,
  );
  return {
    ConditionExpression: held.join(' AND '),
    ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
    ExpressionAttributeValues: Object.fromEntries(
      present.map((name) => [`:current_${name}`, user[name]]),
    ),
  };
};

/** The update of a user item on the condition that it is still as it was read. */
export const updateWhileAsRead = (user: StoredUser, update: UserUpdate, context: ChangeContext) => {
  const condition = whileAsRead(user, context.permission);
  const expressions = assignments(user, update, context);
  const changes = endsSessions(user, update, context)
    ? endingEarlier(user, update, context, expressions)
    : expressions;
  return {
    TableName: config.usersTable,
    Key: userKey(user.id),
    ...changes,
    ...condition,
    ExpressionAttributeNames: {
      ...changes.ExpressionAttributeNames,
      ...condition.ExpressionAttributeNames,
    },
    ExpressionAttributeValues: {
      ...changes.ExpressionAttributeValues,
      ...condition.ExpressionAttributeValues,
    },
  };
};

/** Deletes the email item of a user, so that others can take the address. */
export const releaseEmail = (user: User) => ({
  Delete: {
    TableName: config.usersTable,
    Key: emailItemKey(user.email),
    ConditionExpression: 'user_id = :id',
    ExpressionAttributeValues: { ':id': user.id },
  },
});

/** Moves the email item of a user, unless the address is the same in any letter case. */
export const movingEmail = (user: User, email: string) => {
  if (emailKey(email) === emailKey(user.email)) return [];
  const Put = {
    TableName: config.usersTable,
    Item: { ...emailItemKey(email), user_id: user.id },
    ConditionExpression: 'attribute_not_exists(pk)',
  };
  return [releaseEmail(user), { Put }];
};

/**
 * The condition that whoever makes a user an admin is an admin at that instant. For admins who
 * change themselves the condition of the update already says so.
 * @throws {DomainError} FORBIDDEN when such a caller was read without the role
 */
const requireGrantor = (user: User, { role }: UserUpdate, { callerId: grantor }: ChangeContext) => {
  if (role !== 'admin' || grantor === undefined) return [];
  if (grantor !== user.id) return [requireAdmin(grantor)];
  if (user.role !== 'admin') throw new DomainError('FORBIDDEN');
  return [];
};

/**
 * Voids the link that was mailed to an address which is given up: the user may take it again. This
 * has no condition that could fail, and stands last in its transaction, whose failures are told
 * apart by their places.
 */
export const voidingLink = (user: User, update: UserUpdate, { mailsLinks }: ChangeContext) =>
  mailsLinks && movesUser(user, update) ? [{ Update: voidLink('reset', user.id) }] : [];

/** Writes an update that leaves the email item as it is, in a transaction with others. */
const updateWithOthers = async (
  update: ReturnType<typeof updateWhileAsRead>,
  others: readonly TransactItem[],
): Promise<Written> => {
  const [userChanged, grantorIsNoAdmin] = await transact([{ Update: update }, ...others]);
  if (userChanged) return 'conflict';
  if (grantorIsNoAdmin) throw new DomainError('FORBIDDEN');
  return 'written';
};

/** Writes an update that leaves the email item as it is, by itself. */
const updateAlone = async (update: ReturnType<typeof updateWhileAsRead>): Promise<Written> => {
  try {
    await send(new UpdateCommand(update));
    return 'written';
  } catch (error) {
    if (!isConditionFailure(error)) throw error;
    // An earlier attempt may have taken effect; then the condition fails.
    return error.mayHaveHappened ? 'unknown' : 'conflict';
  }
};

/**
 * Writes an update that leaves the email item as it is. A change may end its own permission, as a
 * new password ends the sessions of the user who sets it: such a change could not be tried again.
 * It is written as a transaction, which DynamoDB recognises when the response of an attempt was
 * lost.
 */
const updateInPlace = (
  user: StoredUser,
  update: UserUpdate,
  context: ChangeContext,
): Promise<Written> => {
  const endsPermission = context.permission && endsSessions(user, update, context);
  const others = [...requireGrantor(user, update, context), ...voidingLink(user, update, context)];
  const written = updateWhileAsRead(user, update, context);
  return endsPermission || others.length > 0
    ? updateWithOthers(written, others)
    : updateAlone(written);
};

/** Moves a user to another address. */
const updateWithEmail = async (
  user: StoredUser,
  update: UserUpdate & { email: string },
  context: ChangeContext,
): Promise<Written> => {
  const [userChanged, addressChanged, addressTaken, grantorIsNoAdmin] = await transact([
    { Update: updateWhileAsRead(user, update, context) },
    ...movingEmail(user, update.email),
    ...requireGrantor(user, update, context),
    ...voidingLink(user, update, context),
  ]);
  if (userChanged || addressChanged) return 'conflict';
  if (grantorIsNoAdmin) throw new DomainError('FORBIDDEN');
  if (addressTaken) throw new DomainError('EMAIL_REGISTERED');
  return 'written';
};

/** Writes an update, which may move the user to another address. */
export const writeUpdate = (
  user: StoredUser,
  update: UserUpdate,
  context: ChangeContext,
): Promise<Written> => {
  const { email } = update;
  return email === undefined || emailKey(email) === emailKey(user.email)
    ? updateInPlace(user, update, context)
    : updateWithEmail(user, { ...update, email }, context);
};

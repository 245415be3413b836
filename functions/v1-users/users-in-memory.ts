/** The users of /api/v1/users, in the memory of this process. */
import type * as v from 'valibot';
import { DomainError } from '../../lib/errors.ts';
import { type Access, anyone } from '../../lib/http/endpoint.ts';
import { foldCase, parseUserId } from '../../lib/users/user.ts';
import type { memoryUser } from '../../lib/users/user-schema.ts';

export type MemoryUser = Readonly<v.InferOutput<typeof memoryUser>>;

/** Users: the memory is bounded (functions/README.md, In-memory variant). */
const capacity = 10_000;

const users = new Map<number, MemoryUser>();
const idsByEmail = new Map<string, number>();
let lastId = 0;

const requireFreeEmail = (email: string, holder?: number): void => {
  const id = idsByEmail.get(foldCase(email));
  if (id !== undefined && id !== holder) throw new DomainError('EMAIL_EXISTS');
};

const put = (user: MemoryUser): MemoryUser => {
  users.set(user.id, user);
  idsByEmail.set(foldCase(user.email), user.id);
  return user;
};

/** All users, in the order of their ids. */
export const listMemoryUsers = (): readonly MemoryUser[] => [...users.values()];

/** @throws {DomainError} USER_NOT_FOUND */
export const getMemoryUser = (id: number): MemoryUser => {
  const user = users.get(id);
  if (!user) throw new DomainError('USER_NOT_FOUND');
  return user;
};

/** Anyone, but only on a user who exists: this is checked before the body. */
export const anyoneOnKnownUser = {
  ...anyone,
  checks: [
    {
      before: ({ event }) => {
        getMemoryUser(parseUserId(event.pathParameters?.id));
      },
    },
  ],
} as const satisfies Access;

/** @throws {DomainError} EMAIL_EXISTS, MEMORY_FULL */
export const createMemoryUser = (
  { name, email }: Pick<MemoryUser, 'name' | 'email'>,
  { now = new Date() }: { now?: Date } = {},
): MemoryUser => {
  requireFreeEmail(email);
  if (users.size >= capacity) throw new DomainError('MEMORY_FULL');
  lastId += 1;
  return put({ id: lastId, name, email, createdAt: now.toISOString() });
};

/** Changes the given fields. @throws {DomainError} USER_NOT_FOUND, EMAIL_EXISTS */
export const changeMemoryUser = (
  id: number,
  changes: Partial<Pick<MemoryUser, 'name' | 'email'>>,
): MemoryUser => {
  const user = getMemoryUser(id);
  const changed = { ...user, ...changes };
  requireFreeEmail(changed.email, id);
  idsByEmail.delete(foldCase(user.email));
  return put(changed);
};

/** @throws {DomainError} USER_NOT_FOUND */
export const deleteMemoryUser = (id: number): void => {
  idsByEmail.delete(foldCase(getMemoryUser(id).email));
  users.delete(id);
};

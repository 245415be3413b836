/**
 * The six endpoints of /api/v1/users, whose users are in the memory of this process
 * (functions/README.md, In-memory variant). One function serves them all, because functions do not
 * share memory.
 */
import type * as v from 'valibot';
import type { memoryUser } from '../../lib/contract/named-schemas.ts';
import * as contract from '../../lib/contract/v1-users.ts';
import { DomainError } from '../../lib/errors.ts';
import { type Access, anyone, endpoint } from '../../lib/http/endpoint.ts';
import type { Handler } from '../../lib/http/request.ts';
import { parseNameAndEmail, parseNameOrEmail } from '../../lib/users/fields.ts';
import { foldCase, parseUserId } from '../../lib/users/user.ts';

type MemoryUser = Readonly<v.InferOutput<typeof memoryUser>>;

/** The most users that the memory holds. */
const capacity = 10_000;

const users = new Map<number, MemoryUser>();
const idsByEmail = new Map<string, number>();
let lastId = 0;

/** @throws {DomainError} EMAIL_EXISTS when another user than the holder has the address */
const requireFreeEmail = (email: string, holder?: number): void => {
  const id = idsByEmail.get(foldCase(email));
  if (id !== undefined && id !== holder) throw new DomainError('EMAIL_EXISTS');
};

const put = (user: MemoryUser): MemoryUser => {
  users.set(user.id, user);
  idsByEmail.set(foldCase(user.email), user.id);
  return user;
};

/** @throws {DomainError} USER_NOT_FOUND */
const userAt = (path: { id?: string } | undefined): MemoryUser => {
  const user = users.get(parseUserId(path?.id));
  if (!user) throw new DomainError('USER_NOT_FOUND');
  return user;
};

/** @throws {DomainError} EMAIL_EXISTS */
const change = (user: MemoryUser, changes: Partial<MemoryUser>): MemoryUser => {
  const changed = { ...user, ...changes };
  requireFreeEmail(changed.email, user.id);
  idsByEmail.delete(foldCase(user.email));
  return put(changed);
};

/** Anyone may call, but the user must exist, which is checked before the body. */
const anyoneOnKnownUser = {
  ...anyone,
  checks: [{ before: ({ event }) => void userAt(event.pathParameters) }],
} as const satisfies Access;

const list = endpoint(contract.listMemoryUsers, anyone, () => ({
  statusCode: 200,
  body: [...users.values()].map(({ id, name, email }) => ({ id, name, email })),
}));

const get = endpoint(contract.getMemoryUser, anyone, ({ pathParameters }) => ({
  statusCode: 200,
  body: userAt(pathParameters),
}));

const create = endpoint(contract.createMemoryUser, anyone, (request) => {
  const { name, email } = parseNameAndEmail(request.body);
  requireFreeEmail(email);
  if (users.size >= capacity) throw new DomainError('MEMORY_FULL');
  lastId += 1;
  const user = put({ id: lastId, name, email, createdAt: new Date().toISOString() });
  return { statusCode: 201, body: user };
});

const replace = endpoint(
  contract.replaceMemoryUser,
  anyoneOnKnownUser,
  ({ body, pathParameters }) => ({
    statusCode: 200,
    body: change(userAt(pathParameters), parseNameAndEmail(body)),
  }),
);

const patch = endpoint(
  contract.changeMemoryUser,
  anyoneOnKnownUser,
  ({ body, pathParameters }) => ({
    statusCode: 200,
    body: change(userAt(pathParameters), parseNameOrEmail(body)),
  }),
);

const remove = endpoint(contract.deleteMemoryUser, anyone, ({ pathParameters }) => {
  const { id, email } = userAt(pathParameters);
  idsByEmail.delete(foldCase(email));
  users.delete(id);
  return { statusCode: 204 };
});

const handlers: Readonly<Record<string, Handler>> = {
  'GET /api/v1/users': list,
  'POST /api/v1/users': create,
  'GET /api/v1/users/{id}': get,
  'PUT /api/v1/users/{id}': replace,
  'PATCH /api/v1/users/{id}': patch,
  'DELETE /api/v1/users/{id}': remove,
};

export const handler: Handler = async (event, context) => {
  const handle = handlers[event.routeKey];
  if (!handle) throw new Error(`No handler for route ${event.routeKey}`);
  return handle(event, context);
};

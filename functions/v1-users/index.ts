/**
 * The six endpoints of /api/v1/users, whose users are in the memory of this process (functions/README.md, In-memory
 * variant). One function serves all six, because functions do not share memory.
 */
import { DomainError } from '../../lib/ground/errors.ts';
import { publicEndpoint } from '../../lib/http/endpoint.ts';
import type { IncomingEvent, RequestTo } from '../../lib/http/request.ts';
import { routes } from '../../lib/http/routes.ts';
import { untrimmedKey } from '../../lib/users/address.ts';
import { parseUserId } from '../../lib/users/user.ts';
import * as contract from './contract.ts';

type MemoryUser = contract.MemoryUser;

const capacity = 10_000;

const users = new Map<number, MemoryUser>();
const idsByEmail = new Map<string, number>();
let lastId = 0;

export const handler = routes(
  publicEndpoint(contract.list, () => ({
    statusCode: 200,
    body: [...users.values()].map(({ id, name, email }) => ({ id, name, email })),
  })),

  publicEndpoint(contract.get, ({ pathParameters }) => ({
    statusCode: 200,
    body: userAt(pathParameters),
  })),

  publicEndpoint(contract.create, ({ body: { name, email } }) => {
    requireFreeEmail(email);
    if (users.size >= capacity) throw new DomainError('MEMORY_FULL');
    lastId += 1;
    const user = put({ id: lastId, name, email, createdAt: new Date().toISOString() });
    return { statusCode: 201, body: user };
  }),

  publicEndpoint(contract.replace, respondToChange, requireUser),
  publicEndpoint(contract.change, respondToChange, requireUser),

  publicEndpoint(contract.remove, ({ pathParameters }) => {
    const { id, email } = userAt(pathParameters);
    idsByEmail.delete(untrimmedKey(email));
    users.delete(id);
    return { statusCode: 204 };
  }),
);

/** @throws {DomainError} USER_NOT_FOUND */
function userAt(path: { id?: string } | undefined): MemoryUser {
  const user = users.get(parseUserId(path?.id));
  if (!user) throw new DomainError('USER_NOT_FOUND');
  return user;
}

/** @throws {DomainError} EMAIL_EXISTS if somebody other than the holder has the address */
function requireFreeEmail(email: string, holder?: number): void {
  const id = idsByEmail.get(untrimmedKey(email));
  if (id !== undefined && id !== holder) throw new DomainError('EMAIL_EXISTS');
}

function put(user: MemoryUser): MemoryUser {
  users.set(user.id, user);
  idsByEmail.set(untrimmedKey(user.email), user.id);
  return user;
}

/** @throws {DomainError} EMAIL_EXISTS */
function respondToChange(request: RequestTo<typeof contract.replace | typeof contract.change>) {
  const user = userAt(request.pathParameters);
  const changed = { ...user, ...request.body };
  requireFreeEmail(changed.email, user.id);
  idsByEmail.delete(untrimmedKey(user.email));
  return { statusCode: 200, body: put(changed) };
}

/** Requires that the user exists. This is checked before the body. */
function requireUser({ pathParameters }: IncomingEvent): void {
  void userAt(pathParameters);
}

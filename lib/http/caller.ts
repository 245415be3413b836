/** What a request says of its caller, and what authentication has read of it. */
import { DomainError } from '../errors.ts';
import { toUser } from '../users/items.ts';
import { findUser } from '../users/store.ts';
import type { User } from '../users/user.ts';
import type { AuthenticatedRequest, IncomingEvent } from './request.ts';

const scheme = 'Bearer ';

/** The token of a request. @throws {DomainError} NO_TOKEN */
export const bearerToken = ({ headers }: Pick<IncomingEvent, 'headers'>): string => {
  const header: string | undefined = headers?.authorization;
  if (!header?.startsWith(scheme)) throw new DomainError('NO_TOKEN');
  return header.slice(scheme.length);
};

/**
 * The user with an id, as last written, or undefined. The caller is not read a second time.
 * @throws {DomainError} STORAGE_FAULT
 */
export const findUserFor = async (
  { caller }: Pick<AuthenticatedRequest, 'caller'>,
  id: number,
): Promise<User | undefined> => (caller?.id === id ? toUser({ ...caller }) : findUser(id));

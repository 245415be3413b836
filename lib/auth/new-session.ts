/** How a login or a registration begins a session, and what its response has of it. */
import type { TransactItem } from '../dynamodb/client.ts';
import { config } from '../settings.ts';
import type { StoredUser } from '../users/items.ts';
import { firstSession, makeSession, makeSessionId, storeSession } from '../users/sessions.ts';
import { tokenLifetime } from './signing-secret.ts';
import { issueToken } from './token.ts';

/** Where a login comes from. */
type Source = Parameters<typeof makeSession>[1];

/** The tokens that the client gets. */
export interface Tokens {
  readonly token: string;
}

const prepare = async (user: StoredUser, source: Source, now = new Date()) => {
  const id = makeSessionId();
  const session = makeSession(user, source, { lifetime: tokenLifetime, now });
  const tokens = { token: await issueToken(user, { session: id, now }) };
  return { id, session, tokens };
};

/**
 * Begins a session of a user who logs in.
 * @param user as read before the password was checked, so that no later change is missed
 * @throws {DomainError} TOKEN_FAULT, STORAGE_FAULT
 */
export const beginSession = async (user: StoredUser, source: Source): Promise<Tokens> => {
  if (config.sessions === 'stateless') return { token: await issueToken(user) };
  const { id, session, tokens } = await prepare(user, source);
  await storeSession(user, id, session);
  return tokens;
};

/**
 * The first session of a user who registers.
 * @returns its tokens, and its write for the transaction that stores the user
 * @throws {DomainError} TOKEN_FAULT
 */
export const prepareFirstSession = async (
  user: StoredUser,
  source: Source,
): Promise<{ tokens: Tokens; writes: TransactItem[] }> => {
  if (config.sessions === 'stateless')
    return { tokens: { token: await issueToken(user) }, writes: [] };
  const { id, session, tokens } = await prepare(user, source);
  return { tokens, writes: [firstSession(user, id, session)] };
};

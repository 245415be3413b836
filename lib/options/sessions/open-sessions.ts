import { DomainError } from '../../ground/errors.ts';
import { findSessions, openSessions, type Session } from './sessions.ts';

/** The sessions of a user as a response shows them, newest first. @param current the session of the request */
export async function listSessions(id: number, current: Session) {
  return (await readOpenSessions(id))
    .toSorted((a, b) => b.created - a.created)
    .map(({ id, created, used, until, ip_address, user_agent }) => ({
      id,
      created_at: iso(created),
      last_used_at: iso(used),
      expires_at: iso(until * 1000),
      ip_address: ip_address || null,
      user_agent: user_agent || null,
      current: id === current.id,
    }));
}

export async function readOpenSessions(id: number): Promise<readonly Session[]> {
  const read = await findSessions(id);
  if (!read) throw new DomainError('USER_NOT_FOUND');
  return openSessions(read, new Date());
}

function iso(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

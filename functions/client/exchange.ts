/** Exchanges a refresh token for the next tokens, and ends a session (functions/README.md, Sessions). */
import { type AccountsError, type Answer, answered, requested } from './answer.ts';
import type { Way } from './fetch.ts';
import { forget, leftOf, readSession, type Session } from './tokens.ts';
import { readToken, type Tokens } from './user.ts';

type Target = Pick<Way, 'base' | 'fetch'>;

/** @returns the next tokens @throws {AccountsError} if there are none, or no response came */
export async function exchange(
  { base, fetch }: Target,
  refreshToken: string,
  signal: AbortSignal | null = null,
): Promise<Tokens> {
  const body = JSON.stringify({ refreshToken });
  const headers = { 'Content-Type': 'application/json' };
  const init = { method: 'POST', headers, body, signal };
  const read = async (response: Response) => {
    const tokens = (await response.json()) as Tokens;
    readToken(tokens.token);
    return tokens;
  };
  return requested(() => fetch(`${base}/api/refresh`, init), read, signal);
}

/** Forgets the tokens in any case, and then ends the session at the service. */
export async function logOut(way: Way, signal?: AbortSignal): Promise<Answer<undefined>> {
  const session = await readSession(way.keeper);
  await forget(way.keeper);
  if (!session?.refreshToken) return { data: undefined, error: null };
  const answer = await answered(() => endAtService(way, session, signal));
  // The session has ended already, or the service has no sessions any more.
  const isOver = answer.error && [401, 404].includes(answer.error.status);
  return isOver ? { data: undefined, error: null } : answer;
}

async function endAtService(
  target: Target,
  session: Session,
  signal: AbortSignal | null = null,
): Promise<undefined> {
  const end = (token: string) => {
    const init = { method: 'POST', headers: { Authorization: `Bearer ${token}` }, signal };
    const send = () => target.fetch(`${target.base}/api/logout`, init);
    return requested(send, async () => undefined, signal);
  };
  try {
    if (leftOf(session) > 0) return await end(session.token);
  } catch (error) {
    if ((error as AccountsError).code !== 'TOKEN_EXPIRED') throw error;
  }
  const next = await exchange(target, session.refreshToken ?? '', signal);
  return end(next.token);
}

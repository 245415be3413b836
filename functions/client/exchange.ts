/** Exchanges a refresh token for the next tokens, and ends a session (functions/README.md, Sessions). */
import { type Answer, answered, errorIn, lost } from './answer.ts';
import type { Way } from './fetch.ts';
import { forget, leftOf, readSession, type Session } from './tokens.ts';
import { readToken, type Tokens } from './user.ts';

type Target = Pick<Way, 'base' | 'fetch'>;

/** @returns the next tokens @throws {AccountsError} if there are none, or no response came */
export async function exchange(
  target: Target,
  refreshToken: string,
  signal?: AbortSignal,
): Promise<Tokens> {
  const body = JSON.stringify({ refreshToken });
  const headers = { 'Content-Type': 'application/json' };
  const response = await post(target, '/api/refresh', { headers, body, signal: signal ?? null });
  if (!response.ok) throw await errorIn(response);
  try {
    const tokens = (await response.json()) as Tokens;
    readToken(tokens.token);
    return tokens;
  } catch (error) {
    // The response was cut off, or something other than the service has sent it.
    throw lost(error, signal);
  }
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
  signal?: AbortSignal,
): Promise<undefined> {
  const end = (token: string) =>
    post(target, '/api/logout', {
      headers: { Authorization: `Bearer ${token}` },
      signal: signal ?? null,
    });
  let response = leftOf(session) > 0 ? await end(session.token) : undefined;
  if (!response || response.headers.get('Error-Code') === 'TOKEN_EXPIRED') {
    const next = await exchange(target, session.refreshToken ?? '', signal);
    response = await end(next.token);
  }
  if (!response.ok) throw await errorIn(response);
}

async function post({ base, fetch }: Target, path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(base + path, { method: 'POST', ...init });
  } catch (error) {
    throw lost(error, init.signal);
  }
}

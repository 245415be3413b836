/** The effects of a successful operation on the session. */
import { beginSession, forget, type Keeper, readSession, refresh } from './tokens.ts';
import type { Tokens, User } from './user.ts';

/** Whether an operation is open to anyone, so that it is sent without a token, which may have expired. */
export function isAnonymous(path: string): boolean {
  return isLogin(path) || path === '/api/password-resets';
}

/** Keeps the tokens of a login, forgets the tokens of a deleted user, and replaces tokens with outdated claims. */
export async function follow(
  keeper: Keeper,
  { method, path }: Readonly<Record<'method' | 'path', string>>,
  data: unknown,
): Promise<void> {
  if (isLogin(path)) {
    const tokens = data as Partial<Tokens>;
    if (tokens.token) await beginSession(keeper, tokens as Tokens);
    return;
  }
  if (method === 'GET') return;
  const session = await readSession(keeper);
  if (!session) return;
  const route = `${method} ${path}`;
  const own = `/api/users/${session.user.id}`;
  if (route === 'POST /api/account-deletions' || route === `DELETE ${own}`) {
    await forget(keeper);
  } else if (mayChangeRole.test(route) || (route === `PUT ${own}` && differs(data, session.user))) {
    // The change was made. If this refresh fails, the next refresh brings the new token.
    await refresh(keeper, session).catch(() => undefined);
  }
}

function isLogin(path: string): boolean {
  return /^\/api\/(auth\/register|login(\/[\w-]+)?)$/.test(path);
}

/** Where admins need a second factor, the token's role depends on the session (functions/README.md, Second factor). */
const mayChangeRole =
  /^(PUT \/api\/(second-factor|email-verifications)|POST \/api\/second-factor\/removals)$/;

function differs(data: unknown, user: User): boolean {
  const { email, role } = data as Partial<User>;
  return email !== user.email || role !== user.role;
}

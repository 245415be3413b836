/** How a user logs in with a password (functions/README.md, Login protection). */

import { loggingFaults } from '../ground/log.ts';
import { config } from '../ground/settings.ts';
import type { Source } from '../ground/source.ts';
import type { Tokens } from '../keys/token.ts';
import { type Counter, readUnlessWaiting } from '../options/protection/counters.ts';
import { mustVerify } from '../options/verified-addresses/address.ts';
import { type StoredUser, wantedEmailKey } from '../users/item.ts';
import { hashPassword, matchesHash, needsRehash } from '../users/password.ts';
import { findHolder } from '../users/store.ts';
import { unmatchableHash } from '../users/user.ts';
import { rewriteUser, writeUser } from '../users/write.ts';
import {
  attemptOf,
  conclude,
  countersAfterPassword,
  countingRefusals,
  issueTokens,
  Refused,
  remindAndRefuseUnverified,
  requireActive,
  useSecondFactor,
} from './login-steps.ts';

interface Login {
  readonly email: string;
  readonly password: string;
  readonly code?: string | undefined;
}

/**
 * Logs a user in, and writes an audit entry. No entry is written when the login is refused because of a wait, before
 * the password is checked; when only the code is missing; or when the store fails before the session is written.
 * @returns the tokens of the new session
 * @throws {DomainError} TOO_MANY_ATTEMPTS, USER_NOT_REGISTERED, INVALID_CREDENTIALS, LOGIN_CODE_REQUIRED,
 *   LOGIN_CODE_WRONG, ACCOUNT_SUSPENDED, EMAIL_NOT_VERIFIED, TOKEN_FAULT, STORAGE_FAULT
 */
export async function logIn({ email, password, code }: Login, source: Source): Promise<Tokens> {
  const { found, counters } = await readLogin(email, source); // the user; protection
  const attempt = attemptOf(source, found);
  const isPrivate = config.accounts === 'private'; // private accounts
  // The audit entry of a refusal; protection
  return countingRefusals(attempt, async () => {
    if (isPrivate) await requirePasswordSilently(found, password, counters); // private accounts
    const user = requireUser(found, counters);
    if (!isPrivate) await requirePassword(user, password, counters);
    const current = await countersAfterPassword(user, source); // protection
    const factor = await useSecondFactor(user, code, current); // second factor
    requireActive(user); // suspension
    await remindAndRefuseUnverified(user, source); // verified addresses
    const tokens = await issueTokens(user, source, factor);
    await conclude(attempt, user, current); // the audit entry; protection, verified addresses
    await raiseHash(user, password); // the cost of hashes
    return tokens;
  });
}

async function readLogin(email: string, source: Source) {
  const keys = [wantedEmailKey(email)];
  const { counters, items } = await readUnlessWaiting(email, source, keys); // protection
  const [emailItem] = items;
  return { found: await findHolder(email, emailItem), counters };
}

/**
 * Requires a user, the password and a verified address where responses must not reveal who has an account: each refusal
 * is the same 401, and whoever registers an address and logs in does not learn whether the address was taken. A login
 * to an unknown account, or to an account whose hash has a lower cost, takes as long as any other login.
 */
async function requirePasswordSilently(
  user: StoredUser | undefined,
  password: string,
  counters: readonly Counter[],
): Promise<void> {
  const hash = user?.password_hash ?? unmatchableHash();
  const isRight = await matchesHash(password, hash, { raisesWork: true });
  const refused = (reason: string) => new Refused('INVALID_CREDENTIALS', reason, counters);
  if (!user) throw refused('unknown_email');
  if (!isRight) throw refused('wrong_password');
  // An address that is not verified looks like a wrong password, and nothing is mailed to it.
  if (mustVerify(user)) throw refused('email_not_verified'); // verified addresses
}

/** The response is 404 if the address has no user. */
function requireUser(user: StoredUser | undefined, counters: readonly Counter[]): StoredUser {
  if (!user) throw new Refused('USER_NOT_REGISTERED', 'unknown_email', counters);
  return user;
}

/** The response is 401 if the password is wrong. */
async function requirePassword(
  user: StoredUser,
  password: string,
  counters: readonly Counter[],
): Promise<void> {
  if (await matchesHash(password, user.password_hash)) return;
  throw new Refused('INVALID_CREDENTIALS', 'wrong_password', counters);
}

/**
 * Replaces a hash of a lower cost by a hash at the current cost, which only a login can do, because it has the
 * password. Never throws: the login succeeds anyway, and the next login tries again.
 */
async function raiseHash(user: StoredUser, password: string): Promise<void> {
  await loggingFaults('hash-not-raised', async () => {
    if (!needsRehash(user.password_hash)) return;
    const password_hash = await hashPassword(password);
    const raise = async (current: StoredUser) => {
      if (current.password_hash !== user.password_hash) return;
      await writeUser(current, { fields: { password_hash } });
    };
    await rewriteUser(user.id, raise, user);
  });
}

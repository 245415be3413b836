/** How users log in by a passkey, which replaces password and code (functions/README.md, Passkeys). */
import type { ErrorCode } from '../ground/errors.ts';
import type { Source } from '../ground/source.ts';
import { useNonce } from '../keys/nonce.ts';
import type { Tokens } from '../keys/token.ts';
import { type Used, verifyUsed } from '../options/passkeys/credential.ts';
import {
  findByCredential,
  noteDomain,
  noteLogin,
  passkeysInForce,
} from '../options/passkeys/passkeys.ts';
import {
  type Counter,
  countersUnlessWaiting,
  readFailures,
} from '../options/protection/counters.ts';
import {
  attemptOf,
  conclude,
  countingRefusals,
  issueTokens,
  Refused,
  remindAndRefuseUnverified,
  requireActive,
} from './login-steps.ts';

/**
 * Logs in the user of a credential. Because passkeys cannot be guessed, failed logins of the account cause no wait
 * here, and a failure counts only for its source. A successful login deletes the failure counts of the account.
 * @throws {DomainError} TOO_MANY_ATTEMPTS, PASSKEY_UNKNOWN, LOGIN_PASSKEY_INVALID, ACCOUNT_SUSPENDED,
 *   EMAIL_NOT_VERIFIED, TOKEN_FAULT, STORAGE_FAULT
 */
export async function logInByPasskey(used: Used, source: Source): Promise<Tokens> {
  const counters = await countersUnlessWaiting(source); // protection
  const { user, passkey, credential, nonce } = await countingRefusals(attemptOf(source), () =>
    requireSigned(used, counters),
  );
  const attempt = attemptOf(source, user, { passkey: passkey.id });
  return countingRefusals(attempt, async () => {
    requireActive(user); // suspension
    await remindAndRefuseUnverified(user, source); // verified addresses
    await useNonce(nonce, refused(counters));
    if (!(await noteLogin(user, credential))) throw await refusedSince(used, counters);
    await noteDomain(user, passkey);
    const tokens = await issueTokens(user, source, { passkey: passkey.id });
    await conclude(attempt, user, await readFailures(source, user)); // the audit entry; protection, verified addresses
    return tokens;
  });
}

async function requireSigned(used: Used, counters: readonly Counter[]) {
  const found = await findByCredential(used.id);
  if (!found) throw refused(counters, 'invalid_passkey', 'PASSKEY_UNKNOWN');
  const signed = await verifyUsed(used, found.user, found.credential.public_key);
  if (!signed || !passkeysInForce(found.user).includes(found.passkey)) throw refused(counters);
  return { ...found, ...signed };
}

/** The refusal of a credential that was removed meanwhile, or whose counter did not increase. */
async function refusedSince({ id }: Used, counters: readonly Counter[]): Promise<Refused> {
  return (await findByCredential(id))
    ? refused(counters, 'passkey_counter')
    : refused(counters, 'invalid_passkey', 'PASSKEY_UNKNOWN');
}

function refused(
  counters: readonly Counter[],
  reason = 'invalid_passkey',
  code: ErrorCode = 'LOGIN_PASSKEY_INVALID',
): Refused {
  return new Refused(code, reason, counters);
}

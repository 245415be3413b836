/** How users register, and how others create them (functions/README.md, Callers). */
import { record, recordingFaults } from '../audit/record.ts';
import { logAdminMade } from '../ground/log.ts';
import { config, hidesAccounts } from '../ground/settings.ts';
import type { Source } from '../ground/source.ts';
import type { Claims, Tokens } from '../keys/token.ts';
import { takenMessage, tryToMail, tryToRemind } from '../options/mails/hand-over.ts';
import { countRegistration } from '../options/protection/counters.ts';
import { prepareFirstSession } from '../options/sessions/session-tokens.ts';
import { mustVerify, verifiedAs } from '../options/verified-addresses/address.ts';
import type { NewUser } from '../users/fields.ts';
import type { StoredUser } from '../users/item.ts';
import { insertIfFree, insertUser, prepareUser } from '../users/store.ts';
import { creationDetails, type Role } from '../users/user.ts';
import { requireAdmin } from '../users/write.ts';

/**
 * Registers a user.
 * @returns the tokens of the first session; none where the address must be verified first
 * @throws {DomainError} TOO_MANY_ATTEMPTS, EMAIL_REGISTERED, HASHING_FAULT, TOKEN_FAULT, STORAGE_FAULT
 */
export async function register(own: NewUser, source: Source): Promise<Partial<Tokens>> {
  await countRegistration(source.ip_address); // protection
  const creation = { ...source, action: 'CREATE' } as const;
  const prepared = await recordingFaults(creation, prepareUser(own, 'user'));
  const user = { ...prepared, ...verifiedAs(false) }; // verified addresses
  // The tokens are issued before the user is stored, so that a failure leaves nothing behind.
  const { tokens, writes } = mustVerify(user)
    ? { tokens: {}, writes: [] }
    : await recordingFaults(creation, prepareFirstSession(user, source)); // sessions
  const { id } = user;
  const created = { ...creation, user_id: id, resource_id: id, details: creationDetails(user) };
  const isFree = await recordingFaults(created, insert(user, writes)); // private accounts
  const refused = {
    ...creation,
    result: 'FAILURE',
    details: { reason: 'email_registered' },
  } as const;
  await record(isFree ? created : refused);
  await (isFree ? tryToRemind(user, source) : tryToMail(takenMessage(user.email, source))); // verified addresses
  return tokens;
}

/**
 * Creates a user for a caller, who may change that user until somebody else has.
 * @throws {DomainError} FORBIDDEN where the caller is no stored admin, and the user is to be one;
 *   EMAIL_REGISTERED, HASHING_FAULT, STORAGE_FAULT
 */
export async function createUser(
  body: NewUser & { readonly role?: Role | null | undefined },
  { id: by, role: ofCaller }: Pick<Claims, 'id' | 'role'>,
  source: Source,
): Promise<StoredUser> {
  const role = body.role ?? 'user';
  const creation = { ...source, action: 'CREATE', user_id: by } as const;
  const prepared = await recordingFaults(creation, prepareUser(body, role));
  const user = { ...prepared, ...verifiedAs(ofCaller === 'admin') }; // verified addresses
  const created = { ...creation, resource_id: user.id, details: creationDetails(user) };
  const inserting =
    role === 'admin' ? insertUser(user, [requireAdmin(by)]) : insertUser({ ...user, made_by: by });
  await recordingFaults(created, inserting);
  await record(created);
  if (role === 'admin') logAdminMade(user.id, { by, requestId: source.request_id });
  return user;
}

/** @returns false if the address is taken and nobody may know it: the rest goes on as if it were free */
async function insert(...user: Parameters<typeof insertUser>): Promise<boolean> {
  if (hidesAccounts(config)) return insertIfFree(...user);
  await insertUser(...user);
  return true;
}

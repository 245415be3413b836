import { createHash } from 'node:crypto';
import { compare, hash } from 'bcryptjs';
import { DomainError } from '../ground/errors.ts';
import { config } from '../ground/settings.ts';
import { isReadable } from '../ground/validation.ts';
import { longest, unmatchableHash } from './user.ts';

/**
 * Marks the hash of a reduced password: bcrypt of the base64 of the password's SHA-256. A hash without this mark is
 * plain bcrypt, which other systems can read and write.
 */
const reducedMarker = '$bcrypt-sha256$v=1';

/**
 * The salted one-way hash to store for a password. The password is converted to NFC, because different devices type the
 * same text in different normal forms.
 * @param cost base-2 logarithm of bcrypt's rounds
 * @throws {DomainError} HASHING_FAULT
 */
export async function hashPassword(
  typed: string,
  options: { cost?: number } = {},
): Promise<string> {
  try {
    const password = typed.normalize();
    const cost = options.cost ?? config.bcryptCost;
    if (!mustReduce(password)) return await inTurn(() => hash(password, cost));
    return reducedMarker + (await inTurn(() => hash(reduce(password), cost)));
  } catch (cause) {
    throw new DomainError('HASHING_FAULT', { cause });
  }
}

/**
 * The last characters of salt and digest hold fewer than six bits, so that only some characters are possible. The cost
 * is at most the maximum of BCRYPT_COST: a higher cost would exceed every timeout.
 */
const bcryptForm =
  /^\$2[aby]\$(?:0[4-9]|1[0-6])\$[./0-9A-Za-z]{21}[.Oeu][./0-9A-Za-z]{30}[.CGKOSWaeimquy26]$/;

/** Whether a text is a hash with which {@link matchesHash} can compare a password. */
export function isPasswordHash(text: string): boolean {
  return bcryptForm.test(text.startsWith(reducedMarker) ? text.slice(reducedMarker.length) : text);
}

/** Whether a hash was made at a lower cost than the current one. */
export function needsRehash(stored: string): boolean {
  return hashCost(stored) < config.bcryptCost;
}

/**
 * Whether a stored hash was made from a password. A password that is not in NFC is compared both as typed and in NFC,
 * because other systems hash a password as typed; both comparisons are always made. A password that is too long to be
 * processed does not match, but another text is compared in its place so that the time is the same.
 * @param raisesWork whether a comparison with a hash of a lower cost is made to take as long as a comparison at the
 *   current cost, so that the time reveals nothing about the hash
 */
export async function matchesHash(
  typed: string,
  stored: string,
  { raisesWork = false }: { raisesWork?: boolean } = {},
): Promise<boolean> {
  const reduced = stored.startsWith(reducedMarker);
  const bcryptHash = reduced ? stored.slice(reducedMarker.length) : stored;
  const further = raisesWork ? costsUpTo(config.bcryptCost, hashCost(stored)) : [];
  const matches = async (password: string) => {
    const candidate = reduced ? reduce(password) : password;
    const isRight = await compare(candidate, bcryptHash);
    for (const cost of further) await compare(candidate, unmatchableHash(cost));
    // bcrypt does not read all characters of text that is ill-formed or too long for bcrypt.
    return isRight && password.isWellFormed() && mustReduce(password) === reduced;
  };
  const isTyped = isReadable(typed, longest.password);
  return inTurn(async () => {
    let isRight = false;
    for (const form of isTyped ? new Set([typed.normalize(), typed]) : ['']) {
      isRight = (await matches(form)) || isRight;
    }
    return isRight && isTyped;
  });
}

/** The base-2 logarithm of the rounds of a stored hash. */
export function hashCost(stored: string): number {
  return Number(stored.replace(reducedMarker, '').split('$')[2]);
}

/** The most bytes of its input that bcrypt reads. */
const bcryptLimit = 72;

function mustReduce(password: string) {
  return Buffer.byteLength(password) > bcryptLimit || password.includes('\0');
}

/**
 * The end of the hash that was started last: only one hash is computed at a time. bcryptjs yields to the event loop
 * between slices of at most 100 ms, but several simultaneous hashes would each take a slice before the loop goes on.
 */
let last: Promise<unknown> = Promise.resolve();

function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const result = last.then(work);
  last = result.catch(() => undefined);
  return result;
}

function reduce(password: string) {
  return createHash('sha256').update(password).digest('base64');
}

/** The costs of further hashes which, together with a hash at `cost`, take as long as one hash at `higher`. */
function costsUpTo(higher: number, cost: number): readonly number[] {
  return Array.from({ length: Math.max(0, higher - cost) }, (_, i) => cost + i);
}

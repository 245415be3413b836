/**
 * The form of a machine's key (functions/README.md, Machines): `mk_3_`, with the id of the machine, then 43 characters
 * of randomness, and 6 characters of a checksum of all characters before them.
 */
import { createHash, randomBytes } from 'node:crypto';

/** How every key begins, and no token of a user. */
export const keyPrefix = 'mk_';

/** Makes a new key of 256 random bits for a machine. */
export function makeKey(id: number, random: Uint8Array = randomBytes(32)): string {
  const secret = inBase62(BigInt(`0x${Buffer.from(random).toString('hex')}`), 43);
  return withChecksum(`${keyPrefix}${id}_${secret}`);
}

/** The id of the machine in a key; undefined for any text that no key can be, such as a key with a typing error. */
export function idInKey(text: string): number | undefined {
  const [, unchecked = '', id] = keyForm.exec(text) ?? [];
  if (withChecksum(unchecked) !== text) return undefined;
  return Number.isSafeInteger(Number(id)) ? Number(id) : undefined;
}

/** The hash of a key, which is stored in place of the key: SHA-256 in hexadecimal digits. */
export function hashOfKey(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

const keyForm = /^(mk_([1-9]\d{0,15})_[0-9A-Za-z]{43})[0-9A-Za-z]{6}$/;

function withChecksum(unchecked: string): string {
  // An import would load this module at the cold start of every function, which takes some milliseconds.
  const { crc32 } = process.getBuiltinModule('node:zlib');
  return unchecked + inBase62(BigInt(crc32(unchecked)), 6);
}

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** A number in base62, with leading zeros. */
function inBase62(number: bigint, length: number): string {
  let text = '';
  for (let rest = number; rest > 0n; rest /= 62n) text = digits[Number(rest % 62n)] + text;
  return text.padStart(length, '0');
}

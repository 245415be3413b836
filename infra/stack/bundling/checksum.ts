/**
 * Replaces @smithy/core/checksum in the bundles. Requests are signed with SHA-256. The package also has SHA-256 in
 * JavaScript, for a Node without it. Leaving the JavaScript out saves 4 KB.
 */
import { type BinaryLike, createHash, createHmac, type Hash, type Hmac } from 'node:crypto';

/** The only export of the package that is imported, as a constructor. */
export function Sha256(secret?: BinaryLike): Hash | Hmac {
  return secret ? createHmac('sha256', secret) : createHash('sha256');
}

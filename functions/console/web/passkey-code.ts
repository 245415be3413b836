/** The code for passkeys, which passkeys.ts loads as one file when a browser needs it. */
export { passkeys } from '../../client/passkeys.ts';
export { findAccepted, tellAccepted } from '../../client/signals.ts';

/** The module that apps import as `accounts-client`. */
export { AccountsError, type Answer, type ApiAnswer, type ErrorCode } from './answer.ts';
export type { Api, CallOptions } from './api.ts';
export { type Accounts, type ClientOptions, createClient } from './client.ts';
export type { IdentityProof } from './identity.ts';
export { type MailedLink, readLink } from './link.ts';
export type { Operations } from './paths.ts';
export type { TokenStorage } from './storage.ts';
export type { Tokens, User } from './user.ts';
export type { Listener, Reason } from './watch.ts';

import { randomBytes } from 'node:crypto';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { inject } from 'vitest';
import { makeInvitationToken } from '../../lib/options/invitations/invitation.ts';
import { type Link, makeLinkToken } from '../../lib/options/links/mailed-link.ts';
import { mailsKey } from '../../lib/options/mails/limits.ts';
import { makePasskey, passkeyAdded } from '../../lib/options/passkeys/passkeys.ts';
import { addressAwaited } from '../../lib/options/verified-addresses/address-link.ts';
import { getItem } from '../../lib/users/item.ts';
import { findStoredUser } from '../../lib/users/store.ts';
import { unmatchableHash } from '../../lib/users/user.ts';
import { rewriteUser, writeUser } from '../../lib/users/write.ts';
import { type Account, register } from './client.ts';
import { rpId } from './passkeys.ts';
import type { TestService } from './service.ts';
import { engineClient } from './stored-items.ts';
import { setFields } from './stored-user.ts';
import { until } from './until.ts';

type Environment = Readonly<Record<string, string>>;

/** Work is done one after the other: lib reads from the environment of this process which table it uses. */
let last: Promise<unknown> = Promise.resolve();
const inTurn = <T>(environment: Environment, work: () => Promise<T>): Promise<T> => {
  const result = last.then(() => {
    // The requests go directly to the engine, even if the service has a proxy in front of the engine.
    Object.assign(process.env, {
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'local',
      AWS_SECRET_ACCESS_KEY: 'local',
      AWS_ENDPOINT_URL_DYNAMODB: inject('engine'),
      USERS_TABLE: environment.USERS_TABLE,
    });
    return work();
  });
  last = result.catch(() => undefined);
  return result;
};

/**
 * Makes a link for a user of a service, by default a reset, and mails nothing. If the link is for a new address,
 * the user is stored as waiting for that address. @returns the token of the link
 */
export const plantLinkToken = (
  environment: Environment,
  id: number,
  link: Partial<Omit<Link, 'user'>> = {},
): Promise<string> =>
  inTurn(environment, async () => {
    const user = await findStoredUser(id);
    if (!user) throw new Error(`There is no user ${id}`);
    const { email = user.email } = link;
    const waiting = email === user.email ? undefined : addressAwaited(user, email).fields;
    if (waiting) await setFields(id, waiting);
    return makeLinkToken({ kind: 'reset', user, ...link, email, pendingId: waiting?.pending_id });
  });

/** Sets fields of a stored user of a service. */
export const setFieldsOf = (
  environment: Environment,
  ...change: Parameters<typeof setFields>
): Promise<unknown> => inTurn(environment, () => setFields(...change));

/** Marks the address of a user of a service as verified, or as not verified. */
export const markVerified = (
  environment: Environment,
  id: number,
  { email_verified = true } = {},
): Promise<unknown> => setFieldsOf(environment, id, { email_verified });

/**
 * Registers a user of a service, waits for the mail to the address, and only then marks the address as verified:
 * a verified address would get no mail.
 */
export const registerVerified = async ({
  api,
  environment,
}: Pick<TestService, 'api' | 'environment'>): Promise<Account> => {
  const user = await register(api);
  await registrationMailed(environment, user.id);
  await markVerified(environment, user.id);
  return user;
};

/** Turns a user into an invited one, who has no password, and mails nothing. @returns the token of the link */
export const plantInvitation = (environment: Environment, id: number): Promise<string> =>
  inTurn(environment, async () =>
    makeInvitationToken(
      await setFields(id, { password_hash: unmatchableHash(4), email_verified: false }),
    ),
  );

/** Sends as many mails of one kind to an address as a service sends to it within an hour, so that it sends no more. */
export const useUpMails = (
  { USERS_TABLE: TableName }: Environment,
  mail: Parameters<typeof mailsKey>[0],
): Promise<unknown> => {
  const at = Math.floor(Date.now() / 1000);
  const mailed = ['1', '2', '3', '4', '5'].map((request_id) => ({ request_id, at }));
  const Item = { ...mailsKey(mail), mailed };
  return engineClient(inject('engine')).send(new PutCommand({ TableName, Item }));
};

/** Waits until the mail with a link for a password is sent to an address, or the attempt is given up. */
export const linkMailed = async (environment: Environment, email: string): Promise<void> => {
  const isOver = async () => {
    const item = await getItem(mailsKey({ kind: 'reset', email }));
    return item && (item.sent || item.claimed_until === undefined);
  };
  await until(async () => inTurn(environment, isOver), `${email} has no mail`);
};

/** Waits until the mail to a user who has registered is sent, if the service verifies addresses. */
export const registrationMailed = async (environment: Environment, id: number): Promise<void> => {
  if ((environment.EMAIL_VERIFICATION ?? 'off') === 'off') return;
  const isMailed = async () => {
    const { email = '' } = (await findStoredUser(id)) ?? {};
    return (await getItem(mailsKey({ kind: 'verification', email })))?.sent !== undefined;
  };
  await until(() => inTurn(environment, isMailed), `User ${id} has no mail`);
};

/** Stores a passkey for a user of a service directly, without the requests that add a passkey. */
export const plantPasskey = (environment: Environment, id: number): Promise<unknown> =>
  inTurn(environment, async () => {
    const credential_id = randomBytes(16).toString('base64url');
    const credential = { credential_id, public_key: Buffer.of(0), counter: 0, backed_up: false };
    const passkey = makePasskey(credential, 'Passkey', rpId);
    return rewriteUser(id, (user) => writeUser(user, passkeyAdded(user, passkey, credential)));
  });

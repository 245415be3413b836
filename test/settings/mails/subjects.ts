/** Creates users who have everything that a request needs, without sending mails. */
import { vi } from 'vitest';
import { beginEnrolment, confirmEnrolment } from '../../../lib/accounts/change-factor.ts';
import { makeNonce } from '../../../lib/keys/nonce.ts';
import { belongingOf } from '../../../lib/keys/token.ts';
import { forIdToken } from '../../../lib/options/identities/id-token.ts';
import { identitiesClaimed, makeIdentity } from '../../../lib/options/identities/identities.ts';
import { makeHandle, makePasskey, passkeyAdded } from '../../../lib/options/passkeys/passkeys.ts';
import { findBearer } from '../../../lib/options/sessions/bearer.ts';
import { beginSession } from '../../../lib/options/sessions/session-tokens.ts';
import type { FactorUsed } from '../../../lib/options/sessions/sessions.ts';
import type { StoredUser } from '../../../lib/users/item.ts';
import { hashPassword } from '../../../lib/users/password.ts';
import { findUserByEmail, insertUser, readUser } from '../../../lib/users/store.ts';
import { writeUser } from '../../../lib/users/write.ts';
import { type Claims, type Issuer, newPerson } from '../../support/issuer.ts';
import { newPasskey, rpId } from '../../support/passkeys.ts';
import { codeOf } from '../../support/second-factor.ts';
import { newUser, removeUser } from '../../support/stored-user.ts';

export const password = 'a long password';
export const current = { currentPassword: password };
const source = { request_id: 'r', ip_address: '192.0.2.1', user_agent: 'test' };

const tokenOf = async (user: StoredUser, began?: FactorUsed) =>
  (await beginSession(user, source, began)).token;

/** The caller of a token, as authentication reads it. */
export const callerOf = async (user: StoredUser, token: string) => {
  const caller = await findBearer(user.id, belongingOf(token));
  if (!caller) throw new Error('The user has no session');
  return caller;
};

/** Makes sure that no user has an address. */
export const nobody = async (email: string) => {
  const holder = await findUserByEmail(email);
  if (holder) await removeUser(holder.id);
  return { email };
};

/** Creates a user whose address is not verified, in place of any user who has the address. */
export const somebody = async (email: string, fields: Partial<StoredUser> = {}) => {
  await nobody(email);
  const password_hash = await hashPassword(password);
  const user = await newUser({ email, password_hash, email_verified: false, ...fields });
  await insertUser(user);
  return { email, id: user.id, user, token: await tokenOf(user) };
};

/** A user who has begun to enrol a second factor, with a code that confirms it. */
export const enrolling = async (email: string, fields: Partial<StoredUser> = {}) => {
  const subject = await somebody(email, fields);
  const caller = await callerOf(subject.user, subject.token);
  const { secret } = await beginEnrolment({ caller, source, ...current }, 'test');
  return { ...subject, secret, code: codeOf(secret) };
};

/** A user who has a second factor, with an unused code. */
export const withFactor = async (email: string, fields: Partial<StoredUser> = {}) => {
  const subject = await enrolling(email, fields);
  const caller = await callerOf(await readUser(subject.id), subject.token);
  const code = codeOf(subject.secret, { ahead: -1 });
  const mails = process.env.MAIL_FUNCTION_URL;
  vi.stubEnv('MAIL_FUNCTION_URL', '');
  await confirmEnrolment({ caller, source, code });
  vi.stubEnv('MAIL_FUNCTION_URL', mails);
  return { ...subject, token: await tokenOf(await readUser(subject.id), 'code') };
};

export const withPasskey = async (email: string) => {
  const subject = await somebody(email);
  const [passkey, userHandle] = [newPasskey(), makeHandle()];
  const credential = { credential_id: passkey.id, public_key: passkey.publicKey };
  const stored = makePasskey(credential, 'Passkey', rpId);
  const added = passkeyAdded(subject.user, stored, { ...credential, counter: 0, backed_up: false });
  await writeUser(subject.user, added, { fields: { passkey_handle: userHandle } });
  return { ...subject, passkey, userHandle, stored };
};

export const withIdentity = async (email: string, issuer: Issuer) => {
  const subject = await somebody(email);
  const { sub } = newPerson();
  const identity = makeIdentity({ issuer: issuer.url, subject: sub });
  const fields = { identities: [identity] };
  await writeUser(subject.user, { fields }, identitiesClaimed(subject.user, [identity]));
  return { ...subject, sub, identity: identity.id };
};

/** An ID token of an issuer, and its nonce. */
export const proofOf = async (issuer: Issuer, claims: Claims) => {
  const nonce = await makeNonce(forIdToken);
  return { idToken: await issuer.issue({ nonce, ...claims }), nonce };
};

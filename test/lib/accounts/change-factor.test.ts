import { randomBytes, randomUUID } from 'node:crypto';
import { decodeProtectedHeader } from 'jose';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  beginEnrolment,
  confirmEnrolment,
  removeFactor,
  removeOwnFactor,
  renewRecoveryCodes,
} from '../../../lib/accounts/change-factor.ts';
import type { OwnConfirmation } from '../../../lib/accounts/rewrite-confirmed.ts';
import type { DomainError } from '../../../lib/ground/errors.ts';
import type { Belonging } from '../../../lib/keys/token.ts';
import { type Bearer, findBearer } from '../../../lib/options/sessions/bearer.ts';
import { beginSession } from '../../../lib/options/sessions/session-tokens.ts';
import { endSession, raiseSessionEpoch } from '../../../lib/options/sessions/sessions.ts';
import type { StoredUser } from '../../../lib/users/item.ts';
import { hashPassword } from '../../../lib/users/password.ts';
import { findStoredUser } from '../../../lib/users/store.ts';
import { useOwnTables } from '../../support/own-tables.ts';
import { codeOf } from '../../support/second-factor.ts';
import { insertedUser, setFields } from '../../support/stored-user.ts';

await useOwnTables();
const environment = {
  JWT_SECRET: 'x'.repeat(40),
  SESSION_DAYS: '90',
  SECOND_FACTOR: 'optional',
  SECOND_FACTOR_LOCAL_KEY: randomBytes(32).toString('base64'),
  EMAIL_VERIFICATION: 'on',
  LOGIN_FAILURES_PER_ACCOUNT: '3',
  LOGIN_FAILURES_PER_ADDRESS: '0',
};
for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
afterEach(() => void vi.useRealTimers());

const source = { ip_address: '192.0.2.1', user_agent: 'test', request_id: randomUUID() };
type Session = () => Promise<Bearer>;
const enter = async (user: StoredUser): Promise<Session> => {
  const { token } = await beginSession(user, source);
  const header = decodeProtectedHeader(token) as Partial<Belonging>;
  return async () => (await findBearer(user.id, header)) ?? expect.unreachable();
};
const isOpen = (session: Session) =>
  session().then(
    () => true,
    () => false,
  );

/** A user whom another caller has created, with two sessions. */
const newUser = async (fields: Partial<StoredUser> = {}) => {
  const password_hash = await hashPassword('right');
  const own = { password_hash, email_verified: true, made_by: 1, ...fields };
  const user = await insertedUser(own);
  return { user, asking: await enter(user), other: await enter(user) };
};
let user: StoredUser;
let asking: Session;
let other: Session;
beforeEach(async () => {
  ({ user, asking, other } = await newUser());
});

const outcomeOf = <T>(work: Promise<T>): Promise<T | string> =>
  work.catch(({ code }: DomainError) => code);
const begin = async (currentPassword: string | undefined = 'right', session = asking) =>
  beginEnrolment({ caller: await session(), source, currentPassword }, 'issuer');
const confirm = async (code: string, session = asking) =>
  confirmEnrolment({ caller: await session(), source, code });
const enrolled = async (session = asking) => {
  const { secret } = await begin('right', session);
  return { secret, codes: await confirm(codeOf(secret), session) };
};
const byCode = async (code: string, currentPassword = 'right') => ({
  caller: await asking(),
  source,
  currentPassword,
  code,
});
const stored = () => findStoredUser(user.id);
const [wrong, none] = ['CODE_WRONG', 'SECOND_FACTOR_NOT_FOUND'];

describe('An enrolment', () => {
  it.each([
    ['without the current password', '', true, 'CURRENT_PASSWORD_REQUIRED'],
    ['with a wrong current password', 'wrong', true, 'CURRENT_PASSWORD_WRONG'],
    [
      'with a wrong current password while the address is not verified',
      'wrong',
      false,
      'CURRENT_PASSWORD_WRONG',
    ],
    ['while the address of the user is not verified', 'right', false, 'EMAIL_NOT_VERIFIED'],
  ])('is not begun %s', async (_, password, email_verified, code) => {
    await setFields(user.id, { email_verified });

    expect(await outcomeOf(begin(password))).toBe(code);

    expect((await stored())?.enrolment).toBeUndefined();
  });

  it('is not begun once all sessions of the user were ended', async () => {
    const caller = await asking();
    await raiseSessionEpoch(user.id);

    expect(await outcomeOf(begin('right', async () => caller))).toBe('TOKEN_INVALID');
  });

  it('is neither begun nor confirmed for a user who has a second factor', async () => {
    const { secret } = await enrolled();

    expect(await outcomeOf(begin())).toBe('SECOND_FACTOR_ENABLED');
    expect(await outcomeOf(confirm(codeOf(secret)))).toBe('SECOND_FACTOR_ENABLED');
  });

  it('is confirmed only by a code of its own secret, and is void once a new enrolment is begun', async () => {
    const first = await begin();
    const { secret, uri } = await begin();

    expect(new URL(uri).searchParams.get('secret')).toBe(secret);
    expect(await outcomeOf(confirm(codeOf(first.secret)))).toBe(wrong);
    expect(new Set(await confirm(codeOf(secret))).size).toBe(10);
  });

  it.each([
    ['can be confirmed for', 599, false],
    ['is void after', 600, true],
  ])('%s ten minutes', async (_, seconds, isVoid) => {
    const now = Math.floor(Date.now() / 1000) * 1000;
    vi.useFakeTimers({ toFake: ['Date'], now });
    const { secret } = await begin();
    vi.setSystemTime(now + seconds * 1000);

    const outcome = await outcomeOf(confirm(codeOf(secret)));

    expect(outcome).toEqual(isVoid ? none : expect.any(Array));
  });

  it('is not confirmed once somebody has given the user an address that is not verified', async () => {
    const { secret } = await begin();
    await setFields(user.id, { email_verified: false });

    expect(await outcomeOf(confirm(codeOf(secret)))).toBe('EMAIL_NOT_VERIFIED');
  });

  it('counts wrong first codes as failed logins', async () => {
    const { secret } = await begin();
    const outcomes = [];
    for (const code of ['wrong', '0000000', 'wrong', codeOf(secret)]) {
      outcomes.push(await outcomeOf(confirm(code)));
    }

    expect(outcomes).toEqual([wrong, wrong, wrong, 'TOO_MANY_ATTEMPTS']);
  });

  it('is noted in its session, and stores nothing if that session alone has ended meanwhile', async () => {
    const { secret } = await begin();
    const caller = await asking();
    await endSession(user.id, caller.session.id);
    const refused = await outcomeOf(confirm(codeOf(secret), async () => caller));
    const before = (await stored())?.factor_secret;
    await enrolled(other);

    expect([refused, before]).toEqual(['TOKEN_INVALID', undefined]);
    expect((await other()).session.enrolled).toBe(true);
  });

  it('ends other sessions and the permission of the maker only once it is confirmed', async () => {
    const { secret } = await begin();
    const before = [(await stored())?.made_by, await isOpen(other)];
    await confirm(codeOf(secret));

    expect(before).toEqual([1, true]);
    expect((await stored())?.made_by).toBeUndefined();
    expect([await isOpen(asking), await isOpen(other)]).toEqual([true, false]);
  });
});

describe('A second factor', () => {
  it.each<[string, (given: OwnConfirmation) => Promise<unknown>]>([
    ['gets new recovery codes', renewRecoveryCodes],
    ['is removed', removeOwnFactor],
  ])(
    '%s only by a right password and a right code, and the other sessions of the user end',
    async (_, change) => {
      expect(await outcomeOf(change(await byCode('x')))).toBe(none);
      const { codes } = await enrolled();
      const [code = '', spare = ''] = codes;
      other = await enter((await stored()) as StoredUser);

      expect(await outcomeOf(change(await byCode('')))).toBe('CODE_REQUIRED');
      expect(await outcomeOf(change(await byCode(code, 'wrong')))).toBe('CURRENT_PASSWORD_WRONG');
      expect(await outcomeOf(change(await byCode('0000000')))).toBe(wrong);
      await change(await byCode(code));

      expect([await isOpen(asking), await isOpen(other)]).toEqual([true, false]);
      const { factor_secret, recovery_codes } = (await stored()) ?? {};
      const isRemoved = change === removeOwnFactor;
      expect([factor_secret === undefined, recovery_codes?.size]).toEqual(
        isRemoved ? [true, undefined] : [false, 10],
      );
      // The previous recovery codes are no longer valid.
      expect(await outcomeOf(change(await byCode(spare)))).toBe(isRemoved ? none : wrong);
    },
  );

  it('is removed only by an admin who has a second factor, and all sessions of the user end', async () => {
    const admin = await newUser({ role: 'admin' });
    const remove = async () => removeFactor(user.id, await admin.asking(), source);
    await enrolled();

    expect(await outcomeOf(remove())).toBe('SECOND_FACTOR_REQUIRED');
    await enrolled(admin.asking);
    await remove();

    expect(await isOpen(asking)).toBe(false);
    expect(await outcomeOf(remove())).toBe(none);
  });
});

import { randomUUID } from 'node:crypto';
import { decodeProtectedHeader } from 'jose';
import { afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { endOpenSession } from '../../../../lib/accounts/end-sessions.ts';
import { Overtaken, transact } from '../../../../lib/dynamodb/client.ts';
import type { DomainError } from '../../../../lib/ground/errors.ts';
import type { Belonging } from '../../../../lib/keys/token.ts';
import { findBearer } from '../../../../lib/options/sessions/bearer.ts';
import { listSessions } from '../../../../lib/options/sessions/open-sessions.ts';
import { beginSession } from '../../../../lib/options/sessions/session-tokens.ts';
import {
  endSession,
  enrolmentNoted,
  findOpenSession,
  findSessions,
  isSessionId,
  raiseSessionEpoch,
  type Session,
  writeSession,
} from '../../../../lib/options/sessions/sessions.ts';
import type { StoredUser } from '../../../../lib/users/item.ts';
import { useOwnTables } from '../../../support/own-tables.ts';
import { scan } from '../../../support/stored-items.ts';
import { insertedUser, removeUser } from '../../../support/stored-user.ts';

const { users: table } = await useOwnTables();
vi.stubEnv('JWT_SECRET', 'x'.repeat(40));
vi.stubEnv('SESSION_DAYS', '90');
afterEach(() => void vi.useRealTimers());

let user: StoredUser;
beforeEach(async () => {
  user = await insertedUser();
});

const source = { ip_address: '192.0.2.1', user_agent: 'test', request_id: randomUUID() };
const ending = ({ id }: StoredUser) => ({ by: id, on: id, source });
const enter = async (by = user, user_agent = 'test'): Promise<Partial<Belonging>> => {
  const { token } = await beginSession(by, { ...source, user_agent });
  return decodeProtectedHeader(token) as Partial<Belonging>;
};
const codeOf = ({ code }: DomainError) => code;
/** `open`, or the code of the error that refuses a token with a header. */
const stateOf = (header: Partial<Belonging>) =>
  findBearer(user.id, header).then(() => 'open', codeOf);
const item = async () =>
  (await scan(inject('engine'), table)).find(({ pk }) => pk === `sessions#${user.id}`);
const invalid = 'TOKEN_INVALID';

describe('A session', () => {
  it.each([
    ['is the name of another attribute', 'expires_at'],
    ['belongs to nobody', 'A'.repeat(22)],
    ['is a number', 0],
    ['is null', null],
    ['is absent', undefined],
  ])('allows nothing if its id in the token %s', async (_, session) => {
    await enter();

    expect(await stateOf({ session, pair: 0 } as Partial<Belonging>)).toBe(invalid);
  });

  it('of another user, or of a user who was never stored, allows nothing', async () => {
    const other = await enter(await insertedUser());

    expect(await stateOf(other)).toBe(invalid);
    expect(await findBearer(999_999, other)).toBeUndefined();
    const listed = listSessions(999_999, {} as Session);
    await expect(listed).rejects.toMatchObject({ code: 'USER_NOT_FOUND' });
  });

  it.each([
    ['before 30 days without use have passed', 30 * 86_400 - 1, 'open'],
    ['after 30 days without use', 30 * 86_400, invalid],
  ])('allows what its user may do, or has ended: %s', async (_, age, expected) => {
    const now = Math.floor(Date.now() / 1000) * 1000;
    vi.useFakeTimers({ toFake: ['Date'], now });
    const session = await enter();
    vi.setSystemTime(now + age * 1000);

    expect(await stateOf(session)).toBe(expected);
  });

  it('can be ended only once, is then removed from the table, and leaves other sessions open', async () => {
    const [one, other] = [await enter(), await enter()];
    const end = () => endOpenSession(one.session, ending(user)).then(() => 'ended', codeOf);

    expect([await end(), await end()]).toEqual(['ended', 'SESSION_NOT_FOUND']);

    expect([await stateOf(one), await stateOf(other)]).toEqual([invalid, 'open']);
    expect(Object.keys((await item()) ?? {}).toSorted()).toEqual(
      [other.session, 'expires_at', 'pk'].toSorted(),
    );
    expect(await endSession(user.id, String(one.session))).toBe(false);
  });

  it('is not written if another request has ended it since it was read', async () => {
    const { session: id } = await enter();
    const read = (await findSessions(user.id)) ?? expect.unreachable();
    const session = findOpenSession(read, id, new Date()) ?? expect.unreachable();
    await endOpenSession(id, ending(user));

    await expect(writeSession(read, session)).rejects.toThrow(Overtaken);
  });

  it('is not written if TOTP was enabled in it since it was read, so that this note stays', async () => {
    const header = await enter();
    const read = (await findSessions(user.id)) ?? expect.unreachable();
    const session = findOpenSession(read, header.session, new Date()) ?? expect.unreachable();
    await transact(enrolmentNoted(user.id, session).steps ?? []);

    await expect(writeSession(read, session)).rejects.toThrow(Overtaken);

    expect((await findBearer(user.id, header))?.session.enrolled).toBe(true);
  });

  it.each([
    ['of another user', async () => (await enter(await insertedUser())).session],
    ['with the name of another attribute', async () => 'expires_at'],
    ['that does not exist', async () => 'A'.repeat(22)],
    ['without an id', async () => undefined],
  ])('%s is not found, and no other session is ended', async (_, name) => {
    const own = await enter();

    const ended = endOpenSession(await name(), ending(user));

    await expect(ended).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
    expect(await stateOf(own)).toBe('open');
  });
});

it.each([
  ['A'.repeat(22), true],
  [`-_${'9'.repeat(20)}`, true],
  ['A'.repeat(21), false],
  ['A'.repeat(23), false],
  [`${'A'.repeat(21)}+`, false],
  [undefined, false],
])('The text %s can be the id of a session: %s', (text, expected) => {
  expect(isSessionId(text)).toBe(expected);
});

describe('The sessions of a user', () => {
  it('are about 50, and a new session ends the sessions that have been unused for longest', async () => {
    const sessions = [];
    for (let i = 0; i < 110; i += 1) sessions.push(await enter(user, 'é'.repeat(200)));

    const states = await Promise.all(sessions.map(stateOf));

    const ended = states.lastIndexOf(invalid) + 1;
    expect(states).toEqual([...Array(ended).fill(invalid), ...Array(110 - ended).fill('open')]);
    expect(110 - ended).toBeGreaterThan(50);
    const { pk, expires_at, ...kept } = (await item()) ?? {};
    expect(Object.keys(kept)).toHaveLength(110 - ended);
    expect(JSON.stringify(kept).length).toBeLessThan(24_576);
    expect(Number(expires_at)).toBeGreaterThan(Date.now() / 1000);
  });

  it('leave the item once all were ended and another begins, and the item is deleted with its user', async () => {
    const before = [await enter(), await enter()];
    await raiseSessionEpoch(user.id);
    const fresh = await enter({ ...user, session_epoch: 1 });

    expect(await Promise.all([...before, fresh].map(stateOf))).toEqual([invalid, invalid, 'open']);
    expect(Object.keys((await item()) ?? {})).toHaveLength(3);
    const listed = await listSessions(
      user.id,
      (await findBearer(user.id, fresh))?.session as never,
    );
    expect(listed).toMatchObject([{ id: fresh.session, current: true }]);

    await removeUser(user.id);
    expect(await item()).toBeUndefined();
  });

  it('are listed newest first, whatever the order of their ids', async () => {
    const now = Date.now();
    vi.useFakeTimers({ toFake: ['Date'], now });
    const newestFirst: unknown[] = [];
    for (let second = 0; second < 9; second += 1) {
      vi.setSystemTime(now + 1000 * second);
      newestFirst.unshift((await enter()).session);
    }

    const listed = await listSessions(user.id, {} as Session);

    expect(listed.map(({ id }) => id)).toEqual(newestFirst);
  });

  it('allow nothing if they begin with a user who was read before all sessions were ended', async () => {
    await raiseSessionEpoch(user.id);

    expect(await stateOf(await enter())).toBe(invalid);
  });
});

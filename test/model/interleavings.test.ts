/**
 * Two requests at the same time: a proxy holds back a read or a write of the first one, so that the second one
 * happens between its read and its write. A name, address or password that is set by the request that is held back is
 * called `late`, any other `early`.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { refreshTokenReused } from '../../lib/ground/log.ts';
import type { ApiAnswer } from '../support/client.ts';
import { proxiedServiceForThisFile } from '../support/proxied-service.ts';
import { faults, overtake } from '../support/proxy.ts';
import { shareOf } from '../support/share.ts';
import { userItems } from '../support/users-table.ts';
import { verificationSettings } from '../support/verification.ts';
import { type Name, ofNoMail, preparations, send } from './interleavings/requests.ts';
import {
  beginByDefault,
  beginInvited,
  beginWithFactor,
  beginWithLinks,
  end,
  kindsOfCode,
  type Scene,
} from './interleavings/scene.ts';
import { before, type Standing, standingAfter } from './interleavings/standing.ts';

const byDefault = await proxiedServiceForThisFile();
const withOptions = await proxiedServiceForThisFile({
  ...verificationSettings.on,
  SESSION_DAYS: '90',
  SELF_DELETION: 'on',
  SECOND_FACTOR: 'optional',
});

let scene: Scene;
afterEach(() => end(scene));

/** The request that is held back, and where; the request that overtakes it; their responses; the account after both. */
type Row = readonly [
  held: Name,
  at: string,
  overtaking: Name,
  response: string,
  ofOvertaking: string,
  then: Partial<Standing>,
];
const title =
  'the request “%s” waits at its %s during “%s”: the responses are %s and %s, and the account has %j';

/** Status and, of a refusal, its message. */
const outcomeOf = ({ status, body }: ApiAnswer): string =>
  status < 400 ? String(status) : `${status} ${body.message}`;

/** @param at the operation that is held back: `UpdateItem` is the first one of this name, `2nd UpdateItem` the second */
async function expectRow(...[held, at, overtaking, response, ofOvertaking, then]: Row) {
  const prepared = new Set([preparations[held], preparations[overtaking]]);
  for (const prepare of prepared) await prepare?.(scene);
  const [operation = at, nth = '1'] = at.split(' ').toReversed();

  const answers = await overtake(
    scene.proxy,
    operation,
    () => send(scene, held, 'late'),
    () => send(scene, overtaking, 'early'),
    { ...ofNoMail, after: Number.parseInt(nth, 10) - 1 },
  );

  expect(answers.map(outcomeOf)).toEqual([response, ofOvertaking]);
  const withFactor = scene.code ? { hasFactor: true, code: 'good' } : {};
  const standing = await standingAfter(scene, answers.toReversed());
  expect(standing).toEqual({ ...before, ...withFactor, ...then });
}

const [get, write, transaction] = ['GetItem', 'UpdateItem', 'TransactWriteItems'];
const forbidden = '403 Forbidden';
const isGone = { isGone: true } as const;

describe('By default,', () => {
  beforeEach(async () => {
    scene = await beginByDefault(byDefault);
  });

  // biome-ignore format: a table
  it.each<Row>([
    ['a deletion', transaction, 'a change of the address', '204', '200', isGone],
    ['a change of the address', transaction, 'a deletion', '404 User not found', '204', isGone],
    ['a change of the name', write, 'a deletion', '404 User not found', '204', isGone],
    ['a name by an admin', write, 'an address by an admin', '200', '200', { name: 'late', address: 'early' }],
    ['a name by an admin', write, 'a promotion', '200', '200', { name: 'late', role: 'admin' }],
    ['an address by an admin', transaction, 'a name and a role by an admin', '200', '200', { address: 'late', name: 'early', role: 'admin' }],
    ['the address in capitals by an admin', write, 'a name by an admin', '200', '200', { address: 'in capitals', name: 'early' }],
    ['a change of the address', transaction, 'an address by an admin', '200', '200', { address: 'late' }],
    ['a change of the address', transaction, 'a registration with the late address', '409 Email already registered', '201', {}],
    ['a login with the other’s password', get, 'an address and a password by an admin', '404 User is not registered', '200', { address: 'early', password: 'early' }],
    ['a promotion by another admin', transaction, 'a demotion of that admin', forbidden, '200', {}],
    ['a promotion by another admin', transaction, 'a deletion of that admin', forbidden, '204', {}],
    ['a name by the maker', write, 'a change of the password', forbidden, '200', { password: 'early' }],
    ['a name by the maker', write, 'a change of the address', forbidden, '200', { address: 'early' }],
    ['a password by the maker', write, 'a change of the password', forbidden, '200', { password: 'early' }],
    ['an address by the maker', transaction, 'a change of the password', forbidden, '200', { password: 'early' }],
    ['a name by the maker', write, 'a promotion', forbidden, '200', { role: 'admin' }],
  ])(title, expectRow);
});

const over = { asking: 'over', other: 'over' } as const;
const suspended = { ...over, isSuspended: true } as const;
const gone = { ...isGone, ...over } as const;
const linked = { address: 'link', other: 'over' } as const;
const ended = '401 Invalid token';
const noRefresh = '401 Invalid refresh token';
const noLink = '400 Invalid or expired verification token';
const isWrong = '403 Current password is wrong';
const noReset = '400 Invalid or expired reset token';

/** Requests that end sessions: the write, the response, the response of a refresh that it overtakes, and the outcome. */
const endings: readonly (readonly [Name, string, string, string, Partial<Standing>])[] = [
  ['a logout', write, '204', noRefresh, { asking: 'over' }],
  ['an end of the session by the other session', write, '204', noRefresh, { asking: 'over' }],
  ['an end of other sessions in the other session', write, '204', '200', { asking: 'over' }],
  ['an end of all sessions by an admin', write, '204', '200', over],
  [
    'a change of the password in the other session',
    write,
    '200',
    '200',
    { asking: 'over', password: 'early' },
  ],
  ['a password by an admin', write, '200', '200', { ...over, password: 'early' }],
  ['a demotion', write, '200', '200', over],
  ['a reset', transaction, '204', '200', { ...over, password: 'early' }],
  ['a suspension', write, '204', '200', suspended],
  ['a deletion', transaction, '204', noRefresh, gone],
];
const endingRows = endings.flatMap(([ending, at, response, ofRefresh, early]): Row[] => {
  const late = early.password ? { ...early, password: 'late' } : early;
  const ofUse = ofRefresh === '200' ? '200' : ended;
  return [
    ['a refresh', write, ending, ofRefresh, response, early],
    [ending, at, 'a refresh', response, '200', late],
    ['a refresh by a used token', write, ending, noRefresh, response, early],
    ['a use of the lost token', write, ending, ofUse, response, early],
  ];
});

describe('With sessions and links,', () => {
  beforeEach(async () => {
    scene = await beginWithLinks(withOptions);
  });

  // biome-ignore format: a table
  it.each(shareOf<Row>([
    // The fresh session is of whoever has registered.
    ['the link', transaction, 'a registration with the address of the link', '409 Email already registered', '201', { fresh: 'open' }],
    ['the link', transaction, 'a deletion', noLink, '204', gone],
    ['the link', transaction, 'a change of the password', isWrong, '200', { password: 'early', other: 'over' }],
    ['the link', transaction, 'a change of the password in the other session', isWrong, '200', { password: 'early', asking: 'over' }],
    ['the link', transaction, 'an address by an admin', noLink, '200', { address: 'early' }],
    ['the link', transaction, 'a change of the name', '204', '200', { ...linked, name: 'early' }],
    ['the link', transaction, 'an end of other sessions', '204', '204', linked],
    ['the link', transaction, 'an end of other sessions in the other session', '204', '204', { ...linked, ...over }],
    ['the link', transaction, 'an end of all sessions by an admin', '204', '204', { ...linked, ...over }],
    ['the link', transaction, 'the link', '204', '204', linked],
    ['a registration with the address of the link', transaction, 'the link', '409 Email already registered', '204', linked],
    ['a deletion', transaction, 'the link', '204', '204', gone],
    ['a change of the password', write, 'the link', '200', '204', { ...linked, password: 'late' }],
    ['a change of the password in the other session', write, 'the link', ended, '204', linked],
    ['an address by an admin', transaction, 'the link', '200', '204', { ...linked, address: 'late' }],
    ['an end of other sessions', write, 'the link', '204', '204', linked],
    ['an end of other sessions in the other session', write, 'the link', ended, '204', linked],

    ['a login', 'PutItem', 'a password by an admin', '200', '200', { ...over, fresh: 'over', password: 'early' }],
    ['a login', 'PutItem', 'an end of all sessions by an admin', '200', '204', { ...over, fresh: 'over' }],
    ['a change of the password', write, 'an end of all sessions by an admin', ended, '204', over],
    ['a change of the address', transaction, 'an end of all sessions by an admin', ended, '204', over],
    ['a change of the name', write, 'an end of all sessions by an admin', ended, '204', over],
    ['an end of other sessions', write, 'an end of all sessions by an admin', ended, '204', over],
    ['an end of other sessions', write, 'an end of other sessions in the other session', ended, '204',
      { asking: 'over' }],

    ['a login', write, 'a deletion', '200', '204', { ...gone, fresh: 'over' }],
    ['a change of the password', write, 'a change of the password', isWrong, '200', { password: 'early', other: 'over' }],
    ['a change of the password', write, 'a self-deletion', '404 User not found', '204', gone],
    ['a self-deletion', transaction, 'a change of the password', isWrong, '200', { password: 'early', other: 'over' }],
    ['a self-deletion', transaction, 'a self-deletion', '404 User not found', '204', gone],
    ['a self-deletion of the first admin', transaction, 'a self-deletion', '409 The last admin cannot be deleted', '204', gone],

    ['a reset', transaction, 'a reset', noReset, '204', { ...over, password: 'early' }],
    ['a reset', transaction, 'a password by an admin', noReset, '200', { ...over, password: 'early' }],
    ['a reset', transaction, 'an address by an admin', noReset, '200', { address: 'early' }],
    ['a reset', transaction, 'a login', '204', '200', { ...over, fresh: 'over', password: 'late' }],
    ['a reset', transaction, 'a request for a reset', noReset, '202', {}],
    ['a reset', transaction, 'a deletion', noReset, '204', gone],
    ['a password by an admin', write, 'a reset', '200', '204', { ...over, password: 'late' }],
    ['an address by an admin', transaction, 'a reset', '200', '204', { ...over, address: 'late', password: 'early' }],
    ['a login', 'PutItem', 'a reset', '200', '204', { ...over, fresh: 'over', password: 'early' }],
    ['a deletion', transaction, 'a reset', '204', '204', gone],

    ...endingRows,
    ['a refresh', write, 'a change of the password', '200', '200', { password: 'early', other: 'over' }],
    ['a refresh', write, 'a promotion', '200', '200', { role: 'admin' }],
    ['a refresh', write, 'a login', '200', '200', { fresh: 'open' }],
    ['a change of the password', write, 'a refresh', '200', '200', { password: 'late', other: 'over' }],
    ['a promotion', transaction, 'a refresh', '200', '200', { role: 'admin' }],
    ['a login', write, 'a refresh', '200', '200', { fresh: 'open' }],
    ['a refresh', write, 'a refresh', '200', '200', {}],
    ['a refresh in place of a lost refresh', write, 'a refresh in place of a lost refresh', '200', '200', {}],
    ['a refresh in place of a lost refresh', write, 'a use of the lost token', noRefresh, '200', { asking: 'over' }],
    ['a use of the lost token', write, 'a refresh in place of a lost refresh', ended, '200', {}],
    ['a use of the lost token', write, 'a use of the lost token', '200', '200', {}],
    ['a use of the lost token', write, 'a refresh by the lost token', '200', '200', {}],

    ['a login', write, 'a suspension', '200', '204', { ...suspended, fresh: 'over' }],
    ['a change of the password', write, 'a suspension', ended, '204', suspended],
    ['a reset', transaction, 'a suspension', noReset, '204', suspended],
    ['the link', transaction, 'a suspension', noLink, '204', suspended],
    ['rights of an auditor by another admin', transaction, 'a demotion of that admin', forbidden, '200', {}],
    ['rights of an auditor', transaction, 'a suspension', '200', '204', { ...suspended, isAuditor: true }],
    ['a suspension', write, 'rights of an auditor', '204', '200', { ...suspended, isAuditor: true }],
    ['a promotion', transaction, 'a suspension', '200', '204', { ...suspended, role: 'admin' }],
    ['a deletion', transaction, 'a suspension', '204', '204', gone],
    ['a self-deletion', transaction, 'a suspension', ended, '204', suspended],
    ['a suspension', write, 'a suspension', '204', '204', suspended],
    ['a suspension', write, 'a login', '204', '200', { ...suspended, fresh: 'over' }],
    ['a suspension', write, 'a change of the password', '204', '200', { ...suspended, password: 'early' }],
    ['a suspension', write, 'a reset', '204', '204', { ...suspended, password: 'early' }],
    ['a suspension', write, 'the link', '204', '204', { ...suspended, address: 'link' }],
    ['a suspension', write, 'a promotion', '204', '200', { ...suspended, role: 'admin' }],
    ['a suspension', write, 'a deletion', '404 User not found', '204', gone],
    ['a suspension', write, 'a self-deletion', '404 User not found', '204', gone],
    ['a suspension of the first admin', transaction, 'a suspension', '409 The last admin cannot be suspended', '204', { ...suspended, role: 'admin' }],
    ['a self-deletion of the first admin', transaction, 'a suspension', '409 The last admin cannot be deleted', '204', { ...suspended, role: 'admin' }],
    ['an end of suspension by another admin', transaction, 'a suspension of that admin', forbidden, '204', suspended],
    ['a confirmation of the enrolment', transaction, 'a new enrolment', '403 Invalid code', '201', {}],
  ]))(title, expectRow);

  it('two requests with a used refresh token end the session, and the reuse is logged once', async () => {
    const reuse = 'a refresh by a used token';

    await expectRow(reuse, write, reuse, noRefresh, noRefresh, { asking: 'over' });

    const logged = scene.service
      .output()
      .split('\n')
      .filter((line) => line.includes(refreshTokenReused));
    expect(logged.filter((line) => JSON.parse(line).user_id === scene.id)).toHaveLength(1);
  });
});

const invited = { ...over, isInvited: true, invitation: 'void', password: 'another one' } as const;
const accepted = { ...invited, isInvited: false } as const;
const taken = '409 Email already registered';

describe('For an invited user,', () => {
  beforeEach(async () => {
    scene = await beginInvited(withOptions);
  });

  // biome-ignore format: a table
  it.each(shareOf<Row>([
    ['the invitation', transaction, 'a login', '204', '401 Invalid credentials', { ...accepted, password: 'late' }],
    ['the invitation', transaction, 'a registration with the address', '204', taken, { ...accepted, password: 'late' }],
    ['the invitation', transaction, 'a name by an admin', '204', '200', { ...accepted, password: 'late', name: 'early' }],
    ['the invitation', transaction, 'a promotion', '204', '409 Invitation not accepted', { ...accepted, password: 'late' }],
    ['the invitation', transaction, 'the invitation', noReset, '204', { ...accepted, password: 'early' }],
    ['the invitation', transaction, 'another invitation', noReset, '204', invited],
    ['the invitation', transaction, 'a request for a reset', noReset, '202', invited],
    ['the invitation', transaction, 'a password by an admin', noReset, '200', { ...accepted, password: 'early' }],
    ['the invitation', transaction, 'an address by an admin', noReset, '200', { ...invited, address: 'early' }],
    ['the invitation', transaction, 'a suspension', noReset, '204', { ...invited, isSuspended: true }],
    ['the invitation', transaction, 'a deletion', noReset, '204', gone],

    ['a login with the other’s password', get, 'the invitation', '200', '204', { ...accepted, password: 'early', fresh: 'open' }],
    ['a registration with the address', transaction, 'the invitation', taken, '204', { ...accepted, password: 'early' }],
    ['a promotion', get, 'the invitation', '200', '204', { ...accepted, password: 'early', role: 'admin' }],
    ['a password by an admin', write, 'the invitation', '200', '204', { ...accepted, password: 'late' }],
    ['an address by an admin', transaction, 'the invitation', '200', '204', { ...accepted, password: 'early', address: 'late' }],
    ['a suspension', write, 'the invitation', '204', '204', { ...accepted, password: 'early', isSuspended: true }],
    ['a deletion', transaction, 'the invitation', '204', '204', gone],

    ['another invitation', write, 'the invitation', '204', '204', { ...accepted, password: 'early' }],
    ['another invitation', write, 'a password by an admin', '204', '200', { ...accepted, password: 'early' }],
    ['another invitation', write, 'an address by an admin', '204', '200', { ...invited, address: 'early' }],
    ['another invitation', write, 'a suspension', '204', '204', { ...invited, isSuspended: true }],
    ['another invitation', write, 'a deletion', '204', '204', gone],
    ['a request for a reset', write, 'the invitation', '202', '204', { ...accepted, password: 'early' }],
    ['a request for a reset', write, 'a suspension', '202', '204', { ...invited, isSuspended: true }],
    ['a password by an admin', write, 'another invitation', '200', '204', { ...accepted, password: 'late' }],
    ['an address by an admin', transaction, 'another invitation', '200', '204', { ...invited, address: 'late' }],
    ['a suspension', write, 'another invitation', '204', '204', { ...invited, isSuspended: true }],
    ['a deletion', transaction, 'another invitation', '204', '204', gone],
  ]))(title, expectRow);

  it('only one of twenty requests with the link sets the password', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => send(scene, 'the invitation')),
    );

    expect(answers.map(outcomeOf).sort()).toEqual(['204', ...Array(19).fill(noReset)]);
    expect(await standingAfter(scene)).toEqual({ ...before, ...accepted, password: 'early' });
  });
});

/** Requests that use a code, as a login does, and the message of the response if the change cannot be written. */
const faultOf = {
  'a renewal by the code': '500 Error making recovery codes',
  'a removal by the code': '500 Error removing second factor',
  'a deletion by the code': '500 Error deleting user',
} as const;
const uses = Object.keys(faultOf) as (keyof typeof faultOf)[];
const used = { code: 'Invalid code' } as const;
const loginRefused = '401 Invalid code';
const isRefused = '403 Invalid code';

describe.each(kindsOfCode)('With a second factor and a code (%s),', (kind) => {
  beforeEach(async () => {
    scene = await beginWithFactor(withOptions, kind);
  });

  const removed = { hasFactor: false, code: undefined, other: 'over' } as const;
  // biome-ignore format: a table
  it.each(shareOf<Row>([
    ['a login by the code', write, 'a login by the code', loginRefused, '200', { ...used, fresh: 'open' }],
    ['a login by the code', write, 'a removal by a spare code', loginRefused, '204', removed],
    ['a login by the code', write, 'a deletion', loginRefused, '204', { ...gone, hasFactor: false, code: undefined }],
    ...(kind === 'app' ? [] : [
      ['a login by the code', write, 'a renewal by a spare code', loginRefused, '200', { ...used, other: 'over' }],
    ] satisfies Row[]),
    ...uses.flatMap((use): Row[] => [
      [use, write, 'a login by the code', isRefused, '200', { ...used, fresh: 'open' }],
      ['a login by the code', write, `${use} that fails`, loginRefused, faultOf[use], used],
    ]),
    ['a removal by the code', '2nd UpdateItem', 'a password by an admin', ended, '200', { ...over, ...used, password: 'early' }],
    ['a removal by an admin with a factor', write, 'a removal by the code', '404 Second factor not found', '204', removed],
  ]))(title, expectRow);

  it.each([...uses, 'a login by the code'] as const)(
    'the request “%s” uses up the code even if the request fails',
    async (use) => {
      const refused = await send(scene, `${use} that fails`);

      expect(outcomeOf(refused)).toMatch(/^500 /);
      expect(await standingAfter(scene)).toEqual({ ...before, hasFactor: true, ...used });
    },
  );

  it('only one request succeeds if twenty logins and five of each other request use the same code', async () => {
    const logins = Array.from({ length: 20 }, () => 'a login by the code' as const);
    const others = Array.from({ length: 5 }, () => uses).flat();

    const answers = await Promise.all([...logins, ...others].map((name) => send(scene, name)));

    expect(answers.filter(({ status }) => status < 300)).toHaveLength(1);
    // The account has to wait after ten failures.
    expect(answers.filter(({ status }) => status === 401).length).toBeLessThanOrEqual(10);
  });
});

describe('If a response of the store is lost,', () => {
  const rows = [
    ['the link', transaction, '204', linked],
    ['an end of other sessions', write, '204', { other: 'over' }],
    ['a change of the password', write, '200', { password: 'early', other: 'over' }],
    ['a password by an admin', write, '200', { ...over, password: 'early' }],
  ] as const;

  it.each(rows)(
    'the request “%s” takes effect once (response to %s)',
    async (name, operation, outcome, then) => {
      scene = await beginWithLinks(withOptions);
      scene.proxy.impose({ ...ofNoMail, fault: faults.lose, operation, times: 1 });

      const answer = await send(scene, name);

      scene.proxy.impose();
      expect(outcomeOf(answer)).toBe(outcome);
      const items = await userItems(scene.service);
      expect(items.find(({ pk }) => pk === `user#${scene.id}`)?.session_epoch).toBe(1);
      expect(await standingAfter(scene, [answer])).toEqual({ ...before, ...then });
    },
  );

  it.each(
    kindsOfCode.flatMap((kind) =>
      (['lose', 'truncate'] as const).map((fault) => [kind, fault] as const),
    ),
  )('a login by a code takes effect once (%s, %s)', async (kind, fault) => {
    scene = await beginWithFactor(withOptions, kind);
    scene.proxy.impose({ ...ofNoMail, fault: faults[fault], operation: 'UpdateItem', times: 1 });

    const answer = await send(scene, 'a login by the code');

    scene.proxy.impose();
    expect(answer.status).toBe(200);
    const then = { hasFactor: true, ...used, fresh: 'open' };
    expect(await standingAfter(scene, [answer])).toEqual({ ...before, ...then });
  });
});

it('Only one of twenty requests with a link changes the address, and all get the same response', async () => {
  scene = await beginWithLinks(withOptions);

  const answers = await Promise.all(Array.from({ length: 20 }, () => send(scene, 'the link')));

  expect(answers.map(outcomeOf)).toEqual(Array(20).fill('204'));
  const path = `/api/admin/audit-logs?resourceId=${scene.id}&action=UPDATE`;
  const { api, adminToken: token } = scene.service;
  expect((await api('GET', path, { token })).body.data).toHaveLength(1);
  expect(await standingAfter(scene)).toEqual({ ...before, ...linked });
});

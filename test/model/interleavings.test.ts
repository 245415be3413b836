/**
 * Requests that others overtake: a proxy holds back a write of the first, so that the second happens between
 * its read and its write. A row has the two requests, the write, the outcome of both, and what is different
 * afterwards. In what they set, requests have the word `late` if they are held back, or else `early`.
 */
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { refreshTokenReused } from '../../lib/ground/log.ts';
import type { AcceptanceService } from '../support/acceptance.ts';
import { type Account, type ApiAnswer, logIn, makeUser, register } from '../support/client.ts';
import { promote, sessionIn } from '../support/examples.ts';
import { proxiedServiceForThisFile } from '../support/proxied-service.ts';
import { type EngineProxy, faults, overtake } from '../support/proxy.ts';
import { linkMailed, plantInvitation, plantLinkToken } from '../support/reset-tokens.ts';
import { codeOf, enrol } from '../support/second-factor.ts';
import { ageSessions } from '../support/stored-items.ts';
import { expectSoundTable, sessionsItem, userItems } from '../support/users-table.ts';
import {
  newAccount,
  sendRegistration,
  verificationSettings,
  verify,
} from '../support/verification.ts';

interface Proxied {
  readonly proxy: EngineProxy;
  readonly service: AcceptanceService;
}
const byDefault = await proxiedServiceForThisFile();
const withOptions = await proxiedServiceForThisFile({
  ...verificationSettings.on,
  SESSION_DAYS: '90',
  SELF_DELETION: 'on',
  SECOND_FACTOR: 'optional',
});

type Tokens = Required<Pick<Account, 'token' | 'refreshToken'>>;

/** The user whom the requests of a row are about. */
interface Scene extends Omit<Account, 'token'>, Proxied {
  /** The token of whoever made the user. */
  readonly maker: string;
  /** The tokens of two sessions, in the order in which they were given. */
  readonly asking: Tokens[];
  readonly other: Tokens[];
  /** Those of a refresh whose response was lost. */
  lost?: Tokens;
  /** A link for another address that was asked for in the one session, and one for a new password. */
  readonly link: string;
  readonly reset: string;
  /** The link of an invitation, of a user who has no password yet. */
  readonly invitation?: string;
  /** Another admin. */
  grantor?: Account;
  /** A code that nobody has used, and another one. */
  readonly code?: string | undefined;
  readonly spare?: string | undefined;
  /** The secret of an enrolment that is not confirmed. */
  pending?: string;
}
let scene: Scene;

const call = (method: string, path: string, token?: string, json?: object) =>
  scene.service.api(method, path, { ...(token ? { token } : {}), ...(json ? { json } : {}) });
const ofUser = (method: string, path: string, token: string, json?: object) =>
  call(method, `/api/users/${scene.id}${path}`, token, json);
const admin = () => scene.service.adminToken;
const asking = () => scene.asking[0]?.token ?? '';
const other = () => scene.other[0]?.token ?? '';
const enter = (json: object = {}): Promise<ApiAnswer> =>
  call('POST', '/api/login', undefined, { email: scene.email, password: scene.password, ...json });

const begin = async ({ proxy, service }: Proxied, maker: string, user: Omit<Account, 'token'>) => {
  const { environment } = service;
  const shared = { proxy, service, maker, ...user };
  const sessions = async () => [(await service.api('POST', '/api/login', { json: user })).body];
  const [one, another] = [await sessions(), await sessions()];
  scene = { ...shared, asking: one, other: another, link: '', reset: '' };
  if (!environment.SESSION_DAYS) return;
  const asked = { email: `link-${user.email}`, sessionId: sessionIn({ token: asking() }) };
  const link = await plantLinkToken(environment, user.id, { kind: 'address', ...asked });
  scene = { ...scene, link, reset: await plantLinkToken(environment, user.id) };
};

/** A user who is invited. */
const beginInvited = async () => {
  const { api, adminToken, environment } = withOptions.service;
  const user = await makeUser(api, adminToken);
  const invitation = await plantInvitation(environment, user.id);
  const none = { maker: adminToken, asking: [], other: [], link: '', reset: '' };
  scene = { ...withOptions, ...user, ...none, invitation };
};

type Tag = 'early' | 'late';
interface Request {
  readonly send: (tag: Tag) => Promise<ApiAnswer>;
  /** What must have happened before the other request begins. */
  readonly before?: () => Promise<unknown>;
}

const tagged = {
  name: (tag: Tag) => ({ name: tag }),
  password: (tag: Tag) => ({ password: tag }),
  address: (tag: Tag) => ({ email: `${tag}-${scene.email}` }),
} as const;
const put = (json: (tag: Tag) => object, token: () => string): Request => ({
  send: (tag) => ofUser('PUT', '', token(), { currentPassword: scene.password, ...json(tag) }),
});
const plain = (send: Request['send'], before?: Request['before']): Request => ({
  send,
  ...(before ? { before } : {}),
});

const makeAdmin = () => ofUser('PUT', '', admin(), { role: 'admin' });
const makeGrantor = async () => {
  const { api } = scene.service;
  scene.grantor = await promote(api, admin(), await register(api));
};
const ofGrantor = (method: string, path: string, json?: object) =>
  call(method, `/api/users/${scene.grantor?.id}${path}`, admin(), json);
const renew = async (refreshToken = scene.asking.at(-1)?.refreshToken) => {
  const answer = await call('POST', '/api/refresh', undefined, { refreshToken });
  if (answer.status === 200) scene.asking.push(answer.body);
  return answer;
};
const first = () => scene.asking[0]?.refreshToken;
const wait = () =>
  ageSessions(inject('engine'), scene.service.environment.USERS_TABLE ?? '', scene.id, 120_000);
/** The response to a refresh is lost, and two minutes pass. */
const lose = async () => {
  scene.lost = (await renew()).body;
  await wait();
};
const factor = (path: string, json: object) =>
  call('POST', `/api/second-factor${path}`, asking(), json);
const byCode = (path: string, code: string | undefined) =>
  call('POST', path, asking(), { currentPassword: scene.password, code });
const beginEnrolment = () => factor('', { currentPassword: scene.password });
const codes = '/api/second-factor/recovery-codes';
const removals = '/api/second-factor/removals';
const deletions = '/api/account-deletions';
/** The mails of an earlier row may still be under way. */
const ofNoMail = { except: 'mails#' } as const;
/** Lets a code be used, and no further write be made. */
const failing = (send: Request['send']): Request =>
  plain(async (tag) => {
    scene.proxy.impose(
      { ...ofNoMail, fault: faults.pass, operation: 'UpdateItem', times: 1 },
      { ...ofNoMail, fault: faults.internalError, operation: 'UpdateItem' },
      { fault: faults.internalError, operation: 'TransactWriteItems' },
    );
    const answer = await send(tag);
    scene.proxy.impose();
    return answer;
  });

/** A request that is done when its link is mailed, or cannot be. */
function mailing(send: () => Promise<ApiAnswer>): Request {
  return plain(async () => {
    const answer = await send();
    await linkMailed(scene.service.environment, scene.email);
    return answer;
  });
}

const requests = {
  'a change of the name': put(tagged.name, asking),
  'a change of the password': put(tagged.password, asking),
  'a change of the password in the other session': put(tagged.password, other),
  'a change of the address': put(tagged.address, asking),
  'an address and a password by an admin': put(
    (tag) => ({ ...tagged.address(tag), ...tagged.password(tag) }),
    admin,
  ),
  'a name by an admin': put(tagged.name, admin),
  'a password by an admin': put(tagged.password, admin),
  'an address by an admin': put(tagged.address, admin),
  'the address in capitals by an admin': put(() => ({ email: scene.email.toUpperCase() }), admin),
  'a name and a role by an admin': put((tag) => ({ ...tagged.name(tag), role: 'admin' }), admin),
  'a name by the maker': put(tagged.name, () => scene.maker),
  'a password by the maker': put(tagged.password, () => scene.maker),
  'an address by the maker': put(tagged.address, () => scene.maker),
  'a promotion': plain(makeAdmin),
  'a promotion by another admin': plain(
    () => ofUser('PUT', '', scene.grantor?.token ?? '', { role: 'admin' }),
    makeGrantor,
  ),
  'rights of an auditor': plain(() => ofUser('PUT', '', admin(), { auditor: true })),
  'rights of an auditor by another admin': plain(
    () => ofUser('PUT', '', scene.grantor?.token ?? '', { auditor: true }),
    makeGrantor,
  ),
  'a demotion of that admin': plain(() => ofGrantor('PUT', '', { role: 'user' })),
  'a deletion of that admin': plain(() => ofGrantor('DELETE', '')),
  'a suspension of that admin': plain(() => ofGrantor('PUT', '/suspension')),
  'a demotion': plain(() => ofUser('PUT', '', admin(), { role: 'user' }), makeAdmin),
  'a deletion': plain(() => ofUser('DELETE', '', admin())),
  'a deletion by oneself': plain(() => byCode(deletions, undefined)),
  'a registration with that address': plain((tag) =>
    sendRegistration(
      scene.service.api,
      newAccount({
        email: scene.link
          ? `link-${scene.email}`
          : `${tag === 'early' ? 'late' : 'early'}-${scene.email}`,
      }),
    ),
  ),
  'a login': plain(() => enter()),
  'a login with the other’s password': plain(() => enter({ password: 'early' })),
  'a logout': plain(() => call('POST', '/api/logout', asking())),
  'an end of the session by the other one': plain(() =>
    ofUser('DELETE', `/sessions/${sessionIn({ token: asking() })}`, other()),
  ),
  'an end of all others': plain(() => ofUser('DELETE', '/sessions', asking())),
  'an end of all others in the other session': plain(() => ofUser('DELETE', '/sessions', other())),
  'an end of all sessions by an admin': plain(() => ofUser('DELETE', '/sessions', admin())),
  'a refresh': plain(() => renew(first())),
  'a refresh in place of a lost one': plain(() => renew(first()), lose),
  'a use of the lost token': plain(() => call('GET', '/api/profile', scene.lost?.token), lose),
  'a refresh by the lost token': plain(() => renew(scene.lost?.refreshToken), lose),
  'a refresh by a used token': plain(
    () => renew(first()),
    async () => {
      await renew();
      await renew();
    },
  ),
  'the link': plain(() => verify(scene.service.api, scene.link, scene.password)),
  'a reset': plain((tag) =>
    call('PUT', '/api/password-resets', undefined, { token: scene.reset, password: tag }),
  ),
  'the invitation': plain((tag) =>
    call('PUT', '/api/password-resets', undefined, { token: scene.invitation, password: tag }),
  ),
  'another invitation': mailing(() => ofUser('POST', '/invitations', admin(), {})),
  'a request for a reset': mailing(() =>
    call('POST', '/api/password-resets', undefined, { email: scene.email }),
  ),
  'a registration with the address': plain(() =>
    sendRegistration(scene.service.api, newAccount({ email: scene.email })),
  ),
  'a suspension': plain(() => ofUser('PUT', '/suspension', admin())),
  'a suspension of the first admin': plain(
    () => call('PUT', '/api/users/1/suspension', asking()),
    makeAdmin,
  ),
  'a deletion of the first admin by itself': plain(() => {
    const currentPassword = scene.service.admin.password;
    return call('POST', deletions, admin(), { currentPassword });
  }, makeAdmin),
  'a lifting by another admin': plain(
    () => ofUser('DELETE', '/suspension', scene.grantor?.token ?? ''),
    async () => {
      await makeGrantor();
      await ofUser('PUT', '/suspension', admin());
    },
  ),
  'a login by the code': plain(() => enter({ code: scene.code })),
  'a login by the code that fails': failing(() => enter({ code: scene.code })),
  'a renewal by the code': plain(() => byCode(codes, scene.code)),
  'a removal by the code': plain(() => byCode(removals, scene.code)),
  'a deletion by the code': plain(() => byCode(deletions, scene.code)),
  'a renewal by the code that fails': failing(() => byCode(codes, scene.code)),
  'a removal by the code that fails': failing(() => byCode(removals, scene.code)),
  'a deletion by the code that fails': failing(() => byCode(deletions, scene.code)),
  'a renewal by a spare code': plain(() => byCode(codes, scene.spare)),
  'a removal by a spare code': plain(() => byCode(removals, scene.spare)),
  'a removal by an admin with a factor': plain(
    () => ofUser('DELETE', '/second-factor', scene.grantor?.token ?? ''),
    async () => {
      const { api } = scene.service;
      const made = await makeUser(api, admin());
      const { recoveryCodes } = await enrol(api, { ...made, token: await logIn(api, made) });
      await call('PUT', `/api/users/${made.id}`, admin(), { role: 'admin' });
      scene.grantor = { ...made, token: await logIn(api, { ...made, code: recoveryCodes[0] }) };
    },
  ),
  'a new enrolment': plain(beginEnrolment),
  'a confirmation of the enrolment': plain(
    () => call('PUT', '/api/second-factor', asking(), { code: codeOf(scene.pending ?? '') }),
    async () => {
      scene.pending = (await beginEnrolment()).body.secret;
    },
  ),
} as const satisfies Readonly<Record<string, Request>>;
type Name = keyof typeof requests;

/** What there is after a row; as it was before, unless the row says otherwise. */
interface Standing {
  readonly isGone?: true;
  readonly name: string;
  readonly address: string;
  readonly password: string;
  readonly role: string;
  readonly isAuditor?: true;
  readonly isSuspended: boolean;
  readonly asking: string;
  readonly other: string;
  /** A session that a request of the row began. */
  readonly fresh?: string;
  readonly hasFactor: boolean;
  readonly code?: string | undefined;
  /** Of a user who was invited, whether an invitation stands, and whether its first link still works. */
  readonly isInvited?: boolean;
  readonly invitation?: string;
}

/** Whether tokens open anything: the newest ones, if a session is open. */
const stateOf = async (tokens: readonly Tokens[]): Promise<string> => {
  const statuses = [];
  for (const { token } of tokens) statuses.push((await call('GET', '/api/profile', token)).status);
  for (const { refreshToken } of tokens.toReversed()) {
    statuses.push((await call('POST', '/api/refresh', undefined, { refreshToken })).status);
  }
  if (statuses.every((status) => status === 401)) return 'over';
  // A token that was used before ends the session, which comes last.
  const isOpen = [statuses[tokens.length - 1], statuses[tokens.length]].every((s) => s === 200);
  return isOpen ? 'open' : `opens with some: ${statuses}`;
};

/** The password that logs the user in, or would but for a suspension or a code. */
const passwordOf = async (email: string): Promise<string> => {
  const passwords = { before: scene.password, late: 'late', early: 'early' };
  for (const [word, password] of Object.entries(passwords)) {
    const { body } = await enter({ email, password });
    if (body.message !== 'Invalid credentials') return word;
  }
  return 'another one';
};

const codeState = async (email: string, password: string): Promise<string> => {
  const { body } = await enter({ email, password, code: scene.code });
  return body.message === 'Login successful' ? 'good' : body.message;
};

const sessionsOf = async (answers: readonly ApiAnswer[]) => {
  const begun = answers.flatMap(({ body }) => (body?.refreshToken && body.token ? [body] : []));
  const known = [scene.asking, scene.other].flatMap(([tokens]) =>
    tokens ? sessionIn(tokens) : [],
  );
  const fresh = begun.filter((tokens) => !known.includes(sessionIn(tokens)));
  return {
    asking: await stateOf(scene.asking),
    other: await stateOf(scene.other),
    ...(fresh.length > 0 ? { fresh: await stateOf(fresh) } : {}),
  };
};

/** What a response says of the user, and what logs the user in. */
const shownAs = async ({ name, email, role, ...more }: ApiAnswer['body']) => {
  const { suspended_at, second_factor: { enabled: hasFactor } = { enabled: false } } = more;
  const spellings = { [scene.email]: 'before', [scene.email.toUpperCase()]: 'in capitals' };
  const password = await passwordOf(email);
  const right = password === 'before' ? scene.password : password;
  return {
    name: name === scene.name ? 'before' : name,
    address: spellings[email] ?? email.replace(`-${scene.email}`, ''),
    password,
    role,
    ...(more.auditor ? ({ isAuditor: true } as const) : {}),
    isSuspended: suspended_at !== undefined,
    hasFactor,
    ...(scene.invitation ? { isInvited: more.invited_until !== undefined } : {}),
    ...(scene.code && hasFactor ? { code: await codeState(email, right) } : {}),
  };
};

const standingAfter = async (answers: readonly ApiAnswer[]): Promise<Standing> => {
  const { service } = scene;
  await expectSoundTable(service);
  const hasSessions = service.environment.SESSION_DAYS !== undefined;
  const sessions = hasSessions ? await sessionsOf(answers) : {};
  const { status, body } = await ofUser('GET', '', admin());
  if (status === 404) {
    // DynamoDB never deletes an item without that attribute.
    const kept = (await sessionsItem(service, scene.id)) ?? { expires_at: 0 };
    expect(kept).toHaveProperty('expires_at');
    return { ...before, isGone: true, ...sessions };
  }
  const shown = await shownAs(body);
  if (shown.isSuspended) {
    await ofUser('DELETE', '/suspension', admin());
    expect(await sessionsOf(answers)).toEqual(sessions);
  }
  return { ...before, ...sessions, ...shown, ...(await invitationState()) };
};

/** Whether the first link of an invitation still sets a password. */
const invitationState = async () => {
  if (!scene.invitation) return {};
  const { status } = await requests['the invitation'].send('late');
  return { invitation: status === 204 ? 'good' : 'void' };
};

const before: Standing = {
  name: 'before',
  address: 'before',
  password: 'before',
  role: 'user',
  isSuspended: false,
  asking: 'open',
  other: 'open',
  hasFactor: false,
};

/** Status and, of a refusal, its message. */
const outcomeOf = ({ status, body }: ApiAnswer): string =>
  status < 400 ? String(status) : `${status} ${body.message}`;

type Row = readonly [
  held: Name,
  at: string,
  overtaking: Name,
  outcome: string,
  ofOvertaking: string,
  then: Partial<Standing>,
];

const expectRow = async (...[held, at, overtaking, outcome, ofOvertaking, then]: Row) => {
  const { proxy } = scene;
  const [late, early]: readonly Request[] = [requests[held], requests[overtaking]];
  for (const prepare of new Set([late?.before, early?.before])) await prepare?.();
  const [nth, operation = at] = at.split(' ');
  const after = operation === at ? 0 : Number.parseInt(nth ?? '', 10) - 1;

  const answers = await overtake(
    proxy,
    operation,
    () => requests[held].send('late'),
    () => requests[overtaking].send('early'),
    { ...ofNoMail, after },
  );

  expect(answers.map(outcomeOf)).toEqual([outcome, ofOvertaking]);
  const standing = await standingAfter(answers.toReversed());
  const hasFactor = scene.code ? { hasFactor: true, code: 'good' } : {};
  expect(standing).toEqual({ ...before, ...hasFactor, ...then });
};

/** No admin stays. */
afterEach(async () => {
  scene.proxy.impose();
  for (const id of [scene.id, scene.grantor?.id ?? 0])
    await call('DELETE', `/api/users/${id}`, admin());
});

const [get, write, transaction] = ['GetItem', 'UpdateItem', 'TransactWriteItems'];
const forbidden = '403 Forbidden';
const isGone = { isGone: true } as const;

describe('By default, when', () => {
  beforeEach(async () => {
    const { api } = byDefault.service;
    const { token } = await register(api);
    await begin(byDefault, token, await makeUser(api, token));
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
    ['a change of the address', transaction, 'a registration with that address', '409 Email already registered', '201', {}],
    ['a login with the other’s password', get, 'an address and a password by an admin', '404 User is not registered', '200', { address: 'early', password: 'early' }],
    ['a promotion by another admin', transaction, 'a demotion of that admin', forbidden, '200', {}],
    ['a promotion by another admin', transaction, 'a deletion of that admin', forbidden, '204', {}],
    ['a name by the maker', write, 'a change of the password', forbidden, '200', { password: 'early' }],
    ['a name by the maker', write, 'a change of the address', forbidden, '200', { address: 'early' }],
    ['a password by the maker', write, 'a change of the password', forbidden, '200', { password: 'early' }],
    ['an address by the maker', transaction, 'a change of the password', forbidden, '200', { password: 'early' }],
    ['a name by the maker', write, 'a promotion', forbidden, '200', { role: 'admin' }],
  ])('%s is held back at its %s, and %s overtakes it, the outcomes are %s and %s, and then %o', expectRow);
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

/** What ends a session: its write, what becomes of a refresh that it overtakes, and what is there then. */
const endings: readonly (readonly [Name, string, string, Partial<Standing>])[] = [
  ['a logout', write, noRefresh, { asking: 'over' }],
  ['an end of the session by the other one', write, noRefresh, { asking: 'over' }],
  ['an end of all others in the other session', write, '200', { asking: 'over' }],
  ['an end of all sessions by an admin', write, '200', over],
  ['a change of the password in the other session', write, '200', { asking: 'over' }],
  ['a password by an admin', write, '200', over],
  ['a demotion', write, '200', over],
  ['a reset', transaction, '200', over],
  ['a suspension', write, '200', suspended],
  ['a deletion', transaction, noRefresh, gone],
];
const statusOf = (name: Name) =>
  /^an end|deletion|logout|reset|suspension/.test(name) ? '204' : '200';
const settingPassword = (name: Name, tag: Tag) =>
  /password|reset/.test(name) ? { password: tag } : {};
const endingRows = endings.flatMap(([ending, at, ofRefresh, then]): Row[] => {
  const [status, early] = [statusOf(ending), { ...then, ...settingPassword(ending, 'early') }];
  return [
    ['a refresh', write, ending, ofRefresh, status, early],
    [ending, at, 'a refresh', status, '200', { ...then, ...settingPassword(ending, 'late') }],
    ['a refresh by a used token', write, ending, noRefresh, status, early],
    ['a use of the lost token', write, ending, ofRefresh === '200' ? '200' : ended, status, early],
  ];
});

describe('With sessions and links, when', () => {
  beforeEach(async () => {
    const { api, adminToken } = withOptions.service;
    await begin(withOptions, adminToken, await makeUser(api, adminToken));
  });

  // biome-ignore format: a table
  it.each<Row>([
    // The fresh session is of whoever has registered.
    ['the link', transaction, 'a registration with that address', '409 Email already registered', '201', { fresh: 'open' }],
    ['the link', transaction, 'a deletion', noLink, '204', gone],
    ['the link', transaction, 'a change of the password', isWrong, '200', { password: 'early', other: 'over' }],
    ['the link', transaction, 'a change of the password in the other session', isWrong, '200', { password: 'early', asking: 'over' }],
    ['the link', transaction, 'an address by an admin', noLink, '200', { address: 'early' }],
    ['the link', transaction, 'a change of the name', '204', '200', { ...linked, name: 'early' }],
    ['the link', transaction, 'an end of all others', '204', '204', linked],
    ['the link', transaction, 'an end of all others in the other session', '204', '204', { ...linked, ...over }],
    ['the link', transaction, 'an end of all sessions by an admin', '204', '204', { ...linked, ...over }],
    ['the link', transaction, 'the link', '204', '204', linked],
    ['a registration with that address', transaction, 'the link', '409 Email already registered', '204', linked],
    ['a deletion', transaction, 'the link', '204', '204', gone],
    ['a change of the password', write, 'the link', '200', '204', { ...linked, password: 'late' }],
    ['a change of the password in the other session', write, 'the link', ended, '204', linked],
    ['an address by an admin', transaction, 'the link', '200', '204', { ...linked, address: 'late' }],
    ['an end of all others', write, 'the link', '204', '204', linked],
    ['an end of all others in the other session', write, 'the link', ended, '204', linked],

    ['a login', 'PutItem', 'a password by an admin', '200', '200', { ...over, fresh: 'over', password: 'early' }],
    ['a login', 'PutItem', 'an end of all sessions by an admin', '200', '204', { ...over, fresh: 'over' }],
    ['a change of the password', write, 'an end of all sessions by an admin', ended, '204', over],
    ['a change of the address', transaction, 'an end of all sessions by an admin', ended, '204', over],
    ['a change of the name', write, 'an end of all sessions by an admin', ended, '204', over],
    ['an end of all others', write, 'an end of all sessions by an admin', ended, '204', over],
    ['an end of all others', write, 'an end of all others in the other session', ended, '204', { asking: 'over' }],

    ['a login', write, 'a deletion', '200', '204', { ...gone, fresh: 'over' }],
    ['a change of the password', write, 'a change of the password', isWrong, '200', { password: 'early', other: 'over' }],
    ['a change of the password', write, 'a deletion by oneself', '404 User not found', '204', gone],
    ['a deletion by oneself', transaction, 'a change of the password', isWrong, '200', { password: 'early', other: 'over' }],
    ['a deletion by oneself', transaction, 'a deletion by oneself', '404 User not found', '204', gone],
    ['a deletion of the first admin by itself', transaction, 'a deletion by oneself', '409 The last admin cannot be deleted', '204', gone],

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
    ['a refresh in place of a lost one', write, 'a refresh in place of a lost one', '200', '200', {}],
    ['a refresh in place of a lost one', write, 'a use of the lost token', noRefresh, '200', { asking: 'over' }],
    ['a use of the lost token', write, 'a refresh in place of a lost one', ended, '200', {}],
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
    ['a deletion by oneself', transaction, 'a suspension', ended, '204', suspended],
    ['a suspension', write, 'a suspension', '204', '204', suspended],
    ['a suspension', write, 'a login', '204', '200', { ...suspended, fresh: 'over' }],
    ['a suspension', write, 'a change of the password', '204', '200', { ...suspended, password: 'early' }],
    ['a suspension', write, 'a reset', '204', '204', { ...suspended, password: 'early' }],
    ['a suspension', write, 'the link', '204', '204', { ...suspended, address: 'link' }],
    ['a suspension', write, 'a promotion', '204', '200', { ...suspended, role: 'admin' }],
    ['a suspension', write, 'a deletion', '404 User not found', '204', gone],
    ['a suspension', write, 'a deletion by oneself', '404 User not found', '204', gone],
    ['a suspension of the first admin', transaction, 'a suspension', '409 The last admin cannot be suspended', '204', { ...suspended, role: 'admin' }],
    ['a deletion of the first admin by itself', transaction, 'a suspension', '409 The last admin cannot be deleted', '204', { ...suspended, role: 'admin' }],
    ['a lifting by another admin', transaction, 'a suspension of that admin', forbidden, '204', suspended],
    ['a confirmation of the enrolment', transaction, 'a new enrolment', '403 Invalid code', '201', {}],
  ])('%s is held back at its %s, and %s overtakes it, the outcomes are %s and %s, and then %o', expectRow);

  it('two requests have a token that was used, the session is ended once, and logged once', async () => {
    await expectRow(
      'a refresh by a used token',
      write,
      'a refresh by a used token',
      noRefresh,
      noRefresh,
      { asking: 'over' },
    );

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

describe('Of a user who is invited, when', () => {
  beforeEach(beginInvited);

  // biome-ignore format: a table
  it.each<Row>([
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
  ])('%s is held back at its %s, and %s overtakes it, the outcomes are %s and %s, and then %o', expectRow);

  it('twenty requests use the link, one sets the password', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => requests['the invitation'].send('early')),
    );

    expect(answers.map(outcomeOf).sort()).toEqual(['204', ...Array(19).fill(noReset)]);
    expect(await standingAfter([])).toEqual({ ...before, ...accepted, password: 'early' });
  });
});

const kinds = ['app', 'recovery'] as const;
/** What uses a code beside a login, and what the response says when the change cannot be written. */
const faultOf = {
  'a renewal by the code': '500 Error making recovery codes',
  'a removal by the code': '500 Error removing second factor',
  'a deletion by the code': '500 Error deleting user',
} as const;
const uses = Object.keys(faultOf) as (keyof typeof faultOf)[];
const used = { code: 'Invalid code' } as const;
const loginRefused = '401 Invalid code';
const isRefused = '403 Invalid code';

/** A user with a second factor, and with a code of the app or a recovery code. */
const beginWithFactor = async (kind: (typeof kinds)[number]) => {
  const { api, adminToken } = withOptions.service;
  const user = await makeUser(api, adminToken);
  const { secret, recoveryCodes } = await enrol(api, { ...user, token: await logIn(api, user) });
  const [one, another, ...[recovery, spare]] = recoveryCodes;
  const session = async (code = '') =>
    (await api('POST', '/api/login', { json: { ...user, code } })).body;
  const code = kind === 'app' ? codeOf(secret, { ahead: 1 }) : recovery;
  const sessions = { asking: [await session(one)], other: [await session(another)] };
  scene = {
    ...withOptions,
    ...user,
    ...sessions,
    maker: adminToken,
    link: '',
    reset: '',
    code,
    spare,
  };
};

describe.each(kinds)('With a second factor and a code (%s), when', (kind) => {
  beforeEach(() => beginWithFactor(kind));

  const removed = { hasFactor: false, code: undefined, other: 'over' } as const;
  // biome-ignore format: a table
  it.each<Row>([
    ['a login by the code', write, 'a login by the code', loginRefused, '200', { ...used, fresh: 'open' }],
    ['a login by the code', write, 'a removal by a spare code', loginRefused, '204', removed],
    ...(kind === 'app' ? [] : [
      ['a login by the code', write, 'a renewal by a spare code', loginRefused, '200', { ...used, other: 'over' }],
    ] satisfies Row[]),
    ...uses.flatMap((use): Row[] => [
      [use, write, 'a login by the code', isRefused, '200', { ...used, fresh: 'open' }],
      ['a login by the code', write, `${use} that fails`, loginRefused, faultOf[use], used],
    ]),
    ['a removal by the code', '2nd UpdateItem', 'a password by an admin', ended, '200', { ...over, ...used, password: 'early' }],
    ['a removal by an admin with a factor', write, 'a removal by the code', '404 Second factor not found', '204', removed],
  ])('%s is held back at its %s, and %s overtakes it, the outcomes are %s and %s, and then %o', expectRow);

  it.each([...uses, 'a login by the code'] as const)(
    '%s fails, it has used the code up',
    async (use) => {
      const refused = await requests[`${use} that fails`].send('early');

      expect(outcomeOf(refused)).toMatch(/^500 /);
      expect(await standingAfter([])).toEqual({ ...before, hasFactor: true, ...used });
    },
  );

  it('twenty logins and twenty requests of each other kind have it, one succeeds', async () => {
    const all = [...uses, 'a login by the code'] as const;

    const answers = await Promise.all(
      Array.from({ length: 20 }, () => all.map((use) => requests[use].send('early'))).flat(),
    );

    expect(answers.filter(({ status }) => status < 300)).toHaveLength(1);
    // The account has to wait after ten failures.
    expect(answers.filter(({ status }) => status === 401).length).toBeLessThanOrEqual(10);
  });
});

describe('A request whose response from the store is lost is made once:', () => {
  const rows = [
    ['the link', transaction, '204', linked],
    ['an end of all others', write, '204', { other: 'over' }],
    ['a change of the password', write, '200', { password: 'early', other: 'over' }],
    ['a password by an admin', write, '200', { ...over, password: 'early' }],
  ] as const;

  it.each(rows)('%s, at its %s', async (name, operation, outcome, then) => {
    const { api, adminToken } = withOptions.service;
    await begin(withOptions, adminToken, await makeUser(api, adminToken));
    scene.proxy.impose({ ...ofNoMail, fault: faults.lose, operation, times: 1 });

    const answer = await requests[name].send('early');

    scene.proxy.impose();
    expect(outcomeOf(answer)).toBe(outcome);
    const items = await userItems(scene.service);
    expect(items.find(({ pk }) => pk === `user#${scene.id}`)?.session_epoch).toBe(1);
    expect(await standingAfter([answer])).toEqual({ ...before, ...then });
  });

  it.each(
    kinds.flatMap((kind) => (['lose', 'truncate'] as const).map((fault) => [kind, fault] as const)),
  )('a login by a code (%s, %s)', async (kind, fault) => {
    await beginWithFactor(kind);
    scene.proxy.impose({ ...ofNoMail, fault: faults[fault], operation: 'UpdateItem', times: 1 });

    const answer = await requests['a login by the code'].send('early');

    scene.proxy.impose();
    expect(answer.status).toBe(200);
    const then = { hasFactor: true, ...used, fresh: 'open' };
    expect(await standingAfter([answer])).toEqual({ ...before, ...then });
  });
});

it('Of twenty requests with one link one gives the address, and the others repeat its response', async () => {
  const { api, adminToken } = withOptions.service;
  await begin(withOptions, adminToken, await makeUser(api, adminToken));

  const answers = await Promise.all(
    Array.from({ length: 20 }, () => requests['the link'].send('early')),
  );

  expect(answers.map(outcomeOf)).toEqual(Array(20).fill('204'));
  const path = `/api/admin/audit-logs?resourceId=${scene.id}&action=UPDATE`;
  expect((await call('GET', path, admin())).body.data).toHaveLength(1);
  expect(await standingAfter([])).toEqual({ ...before, ...linked });
});

/** The requests of which two are sent at the same time, by names that a sentence can have. */
import { inject } from 'vitest';
import type { ApiAnswer } from '../../support/client.ts';
import { sessionIn } from '../../support/examples.ts';
import { faults, type Rule } from '../../support/proxy.ts';
import { linkMailed } from '../../support/reset-tokens.ts';
import { codeOf } from '../../support/second-factor.ts';
import { ageSessions } from '../../support/stored-items.ts';
import { makeGrantor, makeGrantorWithFactor, type Scene } from './scene.ts';

export type Name = keyof typeof requests | `${keyof typeof requests} that fails`;

/** Mails of an earlier test may still be under way: their writes do not count. */
export const ofNoMail = { except: 'mails#' } as const;

/**
 * Sends a request. One that has something mailed is done when that is mailed, or cannot be. Of one that fails, the
 * first update is made, which uses its code, and no write after that.
 * @param tag `late` for a request that is held back, else `early`
 */
export async function send(
  scene: Scene,
  name: Name,
  tag: 'early' | 'late' = 'early',
): Promise<ApiAnswer> {
  const { proxy, service, email } = scene;
  const fails = name.endsWith(' that fails');
  const [by, route, json]: Request =
    requests[name.replace(/ that fails$/, '') as keyof typeof requests];
  const [method = '', path = ''] = filled(route, scene, tag).split(' ');
  const token = tokenOf(scene, by);
  if (fails) proxy.impose(...failingAfterUpdate);
  const answer = await service.api(method, path, {
    ...(token ? { token } : {}),
    ...(json ? { json: JSON.parse(filled(JSON.stringify(json), scene, tag)) } : {}),
  });
  if (fails) proxy.impose();
  if (path === '/api/refresh' && answer.status === 200) scene.asking.push(answer.body);
  if (/^POST .*(password-resets|invitations)$/.test(route))
    await linkMailed(service.environment, email);
  return answer;
}

/** The preparation, by the name of a request: it happens before both requests. */
export const preparations: Partial<Readonly<Record<Name, (scene: Scene) => Promise<unknown>>>> = {
  'a promotion by another admin': makeGrantor,
  'rights of an auditor by another admin': makeGrantor,
  'a removal by an admin with a factor': makeGrantorWithFactor,
  'an end of suspension by another admin': async (scene) => {
    await makeGrantor(scene);
    await send(scene, 'a suspension');
  },
  'a demotion': promote,
  'a suspension of the first admin': promote,
  'a self-deletion of the first admin': promote,
  'a refresh in place of a lost refresh': lose,
  'a use of the lost token': lose,
  'a refresh by the lost token': lose,
  'a refresh by a used token': async (scene) => {
    await send(scene, 'a refresh');
    await send(scene, 'a refresh by the newest token');
  },
  'a confirmation of the enrolment': async (scene) => {
    scene.pending = (await send(scene, 'a new enrolment')).body.secret;
  },
};

/** Whose token a request has; the grantor is another admin, who is there if a request needs one. */
type Caller = 'nobody' | 'asking' | 'other' | 'maker' | 'admin' | 'grantor' | 'lost';
type Request = readonly [by: Caller, route: string, json?: object];

const user = '/api/users/{id}';
const grantor = '/api/users/{grantor}';
const current = { currentPassword: '{password}' };
const name = { name: '{tag}', ...current };
const password = { password: '{tag}', ...current };
const email = { email: '{tag}-{email}', ...current };
const byCode = { ...current, code: '{code}' };
const bySpareCode = { ...current, code: '{spare}' };
const logIn = { email: '{email}', password: '{password}' };
const somebody = { name: 'Ada', password: 'a long password' };
const codes = 'POST /api/second-factor/recovery-codes';
const removals = 'POST /api/second-factor/removals';
const deletions = 'POST /api/account-deletions';
const setPassword = 'PUT /api/password-resets';

const failingAfterUpdate: readonly Rule[] = [
  { ...ofNoMail, fault: faults.pass, operation: 'UpdateItem', times: 1 },
  { ...ofNoMail, fault: faults.internalError, operation: 'UpdateItem' },
  { fault: faults.internalError, operation: 'TransactWriteItems' },
];

// biome-ignore format: a table
const requests = {
  'a change of the name': ['asking', `PUT ${user}`, name],
  'a change of the password': ['asking', `PUT ${user}`, password],
  'a change of the password in the other session': ['other', `PUT ${user}`, password],
  'a change of the address': ['asking', `PUT ${user}`, email],
  'a name by an admin': ['admin', `PUT ${user}`, name],
  'a password by an admin': ['admin', `PUT ${user}`, password],
  'an address by an admin': ['admin', `PUT ${user}`, email],
  'an address and a password by an admin': ['admin', `PUT ${user}`, { ...email, ...password }],
  'the address in capitals by an admin': ['admin', `PUT ${user}`, { email: '{capitals}' }],
  'a name and a role by an admin': ['admin', `PUT ${user}`, { ...name, role: 'admin' }],
  'a name by the maker': ['maker', `PUT ${user}`, name],
  'a password by the maker': ['maker', `PUT ${user}`, password],
  'an address by the maker': ['maker', `PUT ${user}`, email],

  'a promotion': ['admin', `PUT ${user}`, { role: 'admin' }],
  'a promotion by another admin': ['grantor', `PUT ${user}`, { role: 'admin' }],
  'a demotion': ['admin', `PUT ${user}`, { role: 'user' }],
  'rights of an auditor': ['admin', `PUT ${user}`, { auditor: true }],
  'rights of an auditor by another admin': ['grantor', `PUT ${user}`, { auditor: true }],
  'a suspension': ['admin', `PUT ${user}/suspension`],
  'an end of suspension by another admin': ['grantor', `DELETE ${user}/suspension`],
  'a suspension of the first admin': ['asking', 'PUT /api/users/1/suspension'],
  'a demotion of that admin': ['admin', `PUT ${grantor}`, { role: 'user' }],
  'a deletion of that admin': ['admin', `DELETE ${grantor}`],
  'a suspension of that admin': ['admin', `PUT ${grantor}/suspension`],
  'a deletion': ['admin', `DELETE ${user}`],
  'a self-deletion': ['asking', deletions, current],
  'a self-deletion of the first admin': ['admin', deletions, { currentPassword: '{adminPassword}' }],

  'a login': ['nobody', 'POST /api/login', logIn],
  'a login with the other’s password': ['nobody', 'POST /api/login', { ...logIn, password: 'early' }],
  'a logout': ['asking', 'POST /api/logout'],
  'an end of the session by the other session': ['other', `DELETE ${user}/sessions/{session}`],
  'an end of other sessions': ['asking', `DELETE ${user}/sessions`],
  'an end of other sessions in the other session': ['other', `DELETE ${user}/sessions`],
  'an end of all sessions by an admin': ['admin', `DELETE ${user}/sessions`],
  'a refresh': ['nobody', 'POST /api/refresh', { refreshToken: '{first}' }],
  'a refresh by the newest token': ['nobody', 'POST /api/refresh', { refreshToken: '{newest}' }],
  'a refresh in place of a lost refresh': ['nobody', 'POST /api/refresh', { refreshToken: '{first}' }],
  'a refresh by a used token': ['nobody', 'POST /api/refresh', { refreshToken: '{first}' }],
  'a refresh by the lost token': ['nobody', 'POST /api/refresh', { refreshToken: '{lost}' }],
  'a use of the lost token': ['lost', 'GET /api/profile'],

  'the link': ['nobody', 'PUT /api/email-verifications', { token: '{link}', password: '{password}' }],
  'a registration with the address of the link': ['nobody', 'POST /api/auth/register', { ...somebody, email: 'link-{email}' }],
  'a registration with the late address': ['nobody', 'POST /api/auth/register', { ...somebody, email: 'late-{email}' }],
  'a registration with the address': ['nobody', 'POST /api/auth/register', { ...somebody, email: '{email}' }],
  'a reset': ['nobody', setPassword, { token: '{reset}', password: '{tag}' }],
  'a request for a reset': ['nobody', 'POST /api/password-resets', { email: '{email}' }],
  'the invitation': ['nobody', setPassword, { token: '{invitation}', password: '{tag}' }],
  'another invitation': ['admin', `POST ${user}/invitations`, {}],

  'a login by the code': ['nobody', 'POST /api/login', { ...logIn, code: '{code}' }],
  'a renewal by the code': ['asking', codes, byCode],
  'a renewal by a spare code': ['asking', codes, bySpareCode],
  'a removal by the code': ['asking', removals, byCode],
  'a removal by a spare code': ['asking', removals, bySpareCode],
  'a removal by an admin with a factor': ['grantor', `DELETE ${user}/second-factor`],
  'a deletion by the code': ['asking', deletions, byCode],
  'a new enrolment': ['asking', 'POST /api/second-factor', current],
  'a confirmation of the enrolment': ['asking', 'PUT /api/second-factor', { code: '{enrolmentCode}' }],
} as const satisfies Readonly<Record<string, Request>>;

/** A text with the values of a scene in place of their names in braces. */
function filled(text: string, scene: Scene, tag: string): string {
  const { asking, service, grantor, pending } = scene;
  const values: Readonly<Record<string, unknown>> = {
    ...scene,
    tag,
    capitals: scene.email.toUpperCase(),
    grantor: grantor?.id,
    adminPassword: service.admin.password,
    session: asking[0] && sessionIn(asking[0]),
    first: asking[0]?.refreshToken,
    newest: asking.at(-1)?.refreshToken,
    lost: scene.lost?.refreshToken,
    enrolmentCode: pending && codeOf(pending),
  };
  return text.replace(/\{(\w+)\}/g, (_, word: string) => String(values[word]));
}

function tokenOf(scene: Scene, by: Caller): string | undefined {
  const { asking, other, maker, service, grantor, lost } = scene;
  return {
    nobody: undefined,
    asking: asking[0]?.token,
    other: other[0]?.token,
    maker,
    admin: service.adminToken,
    grantor: grantor?.token,
    lost: lost?.token,
  }[by];
}

function promote(scene: Scene): Promise<unknown> {
  return send(scene, 'a promotion');
}

/** The response to a refresh is lost, and two minutes pass. */
async function lose(scene: Scene): Promise<void> {
  scene.lost = (await send(scene, 'a refresh')).body;
  const table = scene.service.environment.USERS_TABLE ?? '';
  await ageSessions(inject('engine'), table, scene.id, 120_000);
}

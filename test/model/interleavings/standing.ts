/** The state of a user after two requests, as the API and the table show it. */
import { expect } from 'vitest';
import type { ApiAnswer } from '../../support/client.ts';
import { sessionIn } from '../../support/examples.ts';
import { expectSoundTable, sessionsItem } from '../../support/users-table.ts';
import { send } from './requests.ts';
import type { Scene, Tokens } from './scene.ts';

export interface Standing {
  readonly isGone?: true;
  readonly name: string;
  readonly address: string;
  readonly password: string;
  readonly role: string;
  readonly isAuditor?: true;
  readonly isSuspended: boolean;
  readonly asking: string;
  readonly other: string;
  /** A session that one of the requests began. */
  readonly fresh?: string;
  readonly hasFactor: boolean;
  readonly code?: string | undefined;
  /** Only of a user who was invited: whether that stands, and whether the first link still works. */
  readonly isInvited?: boolean;
  readonly invitation?: string;
}

/** The state of a user who was not invited, if no request changed anything. */
export const before: Standing = {
  name: 'before',
  address: 'before',
  password: 'before',
  role: 'user',
  isSuspended: false,
  asking: 'open',
  other: 'open',
  hasFactor: false,
};

/** @param answers to the requests, of which some may have begun a session */
export async function standingAfter(
  scene: Scene,
  answers: readonly ApiAnswer[] = [],
): Promise<Standing> {
  const { service, id } = scene;
  await expectSoundTable(service);
  const hasSessions = service.environment.SESSION_DAYS !== undefined;
  const sessions = async () => (hasSessions ? sessionsOf(scene, answers) : {});
  const states = await sessions();
  const { status, body } = await service.api('GET', `/api/users/${id}`, {
    token: service.adminToken,
  });
  if (status === 404) {
    // DynamoDB never deletes an item without that attribute.
    const kept = (await sessionsItem(service, id)) ?? { expires_at: 0 };
    expect(kept).toHaveProperty('expires_at');
    return { ...before, isGone: true, ...states };
  }
  const fields = await fieldsOf(scene, body);
  if (fields.isSuspended) {
    await service.api('DELETE', `/api/users/${id}/suspension`, { token: service.adminToken });
    expect(await sessions(), 'sessions after a suspension').toEqual(states);
  }
  const invited = scene.invitation
    ? { isInvited: body.invited_until !== undefined, invitation: await invitationState(scene) }
    : {};
  return { ...before, ...states, ...fields, ...invited };
}

async function sessionsOf({ service, asking, other }: Scene, answers: readonly ApiAnswer[]) {
  const known = [...asking, ...other].map(sessionIn);
  const fresh = answers
    .map(({ body }) => body)
    .filter((body) => body?.token && body.refreshToken && !known.includes(sessionIn(body)));
  return {
    asking: await stateOf(service, asking),
    other: await stateOf(service, other),
    ...(fresh.length > 0 ? { fresh: await stateOf(service, fresh) } : {}),
  };
}

/** Whether a session is open, by its newest tokens, or over, by all of them. */
async function stateOf({ api }: Scene['service'], tokens: readonly Tokens[]): Promise<string> {
  const statuses: number[] = [];
  // The newest first: a refresh token that was used before ends the session.
  for (const { token, refreshToken } of tokens.toReversed()) {
    statuses.push((await api('GET', '/api/profile', { token })).status);
    statuses.push((await api('POST', '/api/refresh', { json: { refreshToken } })).status);
  }
  if (statuses.every((status) => status === 401)) return 'over';
  const isOpen = statuses[0] === 200 && statuses[1] === 200;
  return isOpen ? 'open' : `opens with some: ${statuses}`;
}

async function fieldsOf(scene: Scene, { name, email, role, ...more }: ApiAnswer['body']) {
  const spellings = { [scene.email]: 'before', [scene.email.toUpperCase()]: 'in capitals' };
  const hasFactor = more.second_factor?.enabled ?? false;
  const password = await passwordOf(scene, email);
  return {
    name: name === scene.name ? 'before' : name,
    address: spellings[email] ?? email.replace(`-${scene.email}`, ''),
    password,
    role,
    ...(more.auditor ? ({ isAuditor: true } as const) : {}),
    isSuspended: more.suspended_at !== undefined,
    hasFactor,
    ...(scene.code && hasFactor ? { code: await codeState(scene, email, password) } : {}),
  };
}

/** The password that logs the user in, or would but for a suspension or a code. */
async function passwordOf(scene: Scene, email: string): Promise<string> {
  const { api } = scene.service;
  const passwords = { before: scene.password, late: 'late', early: 'early' };
  for (const [word, password] of Object.entries(passwords)) {
    const { body } = await api('POST', '/api/login', { json: { email, password } });
    if (body.message !== 'Invalid credentials') return word;
  }
  return 'another one';
}

async function codeState(scene: Scene, email: string, word: string): Promise<string> {
  const password = word === 'before' ? scene.password : word;
  const json = { email, password, code: scene.code };
  const { body } = await scene.service.api('POST', '/api/login', { json });
  return body.message === 'Login successful' ? 'good' : body.message;
}

/** Whether the first link of an invitation still sets a password. */
async function invitationState(scene: Scene): Promise<string> {
  const { status } = await send(scene, 'the invitation');
  return status === 204 ? 'good' : 'void';
}

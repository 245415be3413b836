/** The users whom the two requests of a test are about. */
import type { AcceptanceService } from '../../support/acceptance.ts';
import { type Account, logIn, makeUser, register } from '../../support/client.ts';
import { promote, sessionIn } from '../../support/examples.ts';
import type { EngineProxy } from '../../support/proxy.ts';
import { plantInvitation, plantLinkToken } from '../../support/reset-tokens.ts';
import { codeOf, enrol } from '../../support/second-factor.ts';

interface Proxied {
  readonly proxy: EngineProxy;
  readonly service: AcceptanceService;
}

export type Tokens = Required<Pick<Account, 'token' | 'refreshToken'>>;

export interface Scene extends Omit<Account, 'token'>, Proxied {
  /** The token of whoever made the user. */
  readonly maker: string;
  /** The tokens of two sessions, the newest ones last. */
  readonly asking: Tokens[];
  readonly other: Tokens[];
  /** Tokens of a link for another address, which the first session asked for, and for a new password. */
  readonly link?: string;
  readonly reset?: string;
  /** The token of the link of an invitation, if the user has no password yet. */
  readonly invitation?: string;
  /** Two codes that nobody has used. */
  readonly code?: string | undefined;
  readonly spare?: string | undefined;
  /** Prepared for the requests that need it: another admin, lost tokens, an unconfirmed secret. */
  grantor?: Account;
  lost?: Tokens;
  pending?: string;
}

/** A user with two sessions, whom somebody without a role made. */
export async function beginByDefault({ proxy, service }: Proxied): Promise<Scene> {
  const { token: maker } = await register(service.api);
  const user = await makeUser(service.api, maker);
  return { proxy, service, maker, ...user, ...(await logInTwice(service, user)) };
}

/** A user with two sessions and two links. */
export async function beginWithLinks({ proxy, service }: Proxied): Promise<Scene> {
  const { api, adminToken: maker, environment } = service;
  const user = await makeUser(api, maker);
  const sessions = await logInTwice(service, user);
  const sessionId = sessionIn(sessions.asking[0] as Tokens);
  const address = { kind: 'address', email: `link-${user.email}`, sessionId } as const;
  const link = await plantLinkToken(environment, user.id, address);
  const reset = await plantLinkToken(environment, user.id);
  return { proxy, service, maker, ...user, ...sessions, link, reset };
}

export async function beginInvited({ proxy, service }: Proxied): Promise<Scene> {
  const { api, adminToken: maker, environment } = service;
  const user = await makeUser(api, maker);
  const invitation = await plantInvitation(environment, user.id);
  return { proxy, service, maker, ...user, asking: [], other: [], invitation };
}

export const kindsOfCode = ['app', 'recovery'] as const;

/** A user with a second factor and two sessions. @param kind which code is in `code` */
export async function beginWithFactor(
  { proxy, service }: Proxied,
  kind: (typeof kindsOfCode)[number],
): Promise<Scene> {
  const { api, adminToken: maker } = service;
  const user = await makeUser(api, maker);
  const { secret, recoveryCodes } = await enrol(api, { ...user, token: await logIn(api, user) });
  const [one, another, recovery, spare] = recoveryCodes;
  const code = kind === 'app' ? codeOf(secret, { ahead: 1 }) : recovery;
  const sessions = await logInTwice(service, user, [one, another]);
  return { proxy, service, maker, ...user, ...sessions, code, spare };
}

/** Deletes the users of a scene, so that no admin stays. */
export async function end({ proxy, service, id, grantor }: Scene): Promise<void> {
  proxy.impose();
  for (const each of [id, ...(grantor ? [grantor.id] : [])]) {
    await service.api('DELETE', `/api/users/${each}`, { token: service.adminToken });
  }
}

export async function makeGrantor(scene: Scene): Promise<void> {
  const { api, adminToken } = scene.service;
  scene.grantor = await promote(api, adminToken, await register(api));
}

/** Makes another admin, who has logged in with a second factor. */
export async function makeGrantorWithFactor(scene: Scene): Promise<void> {
  const { api, adminToken } = scene.service;
  const made = await makeUser(api, adminToken);
  const { recoveryCodes } = await enrol(api, { ...made, token: await logIn(api, made) });
  await api('PUT', `/api/users/${made.id}`, { token: adminToken, json: { role: 'admin' } });
  scene.grantor = { ...made, token: await logIn(api, { ...made, code: recoveryCodes[0] }) };
}

async function logInTwice(
  { api }: AcceptanceService,
  { email, password }: Pick<Account, 'email' | 'password'>,
  codes: readonly (string | undefined)[] = [],
): Promise<Pick<Scene, 'asking' | 'other'>> {
  const begin = async (code?: string) =>
    (await api('POST', '/api/login', { json: { email, password, ...(code ? { code } : {}) } }))
      .body;
  return { asking: [await begin(codes[0])], other: [await begin(codes[1])] };
}

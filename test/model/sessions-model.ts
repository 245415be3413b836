/** A model of a user's sessions, clients and links, and of the changes that each request makes. */
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { type ApiAnswer, uniqueEmail } from '../support/client.ts';
import { sessionIn } from '../support/examples.ts';

const passwords = ['one', 'other'];
const password = fc.constantFrom(...passwords);
/** Which of the clients, or of the sessions, that there are. */
const client = fc.nat(99);

const weighted = <T>(weight: number, arbitrary: fc.Arbitrary<T>) => ({ weight, arbitrary });

export const command = fc.oneof(
  weighted(6, fc.record({ kind: fc.constant('login' as const), password })),
  weighted(12, fc.record({ kind: fc.constant('refresh' as const), client, isLost: fc.boolean() })),
  weighted(
    3,
    fc.record({
      kind: fc.constantFrom('profile', 'list', 'end others', 'logout' as const),
      client,
    }),
  ),
  fc.record({ kind: fc.constant('end' as const), client, session: client }),
  fc.record({ kind: fc.constant('change' as const), client, current: password, password }),
  fc.record({ kind: fc.constant('leave' as const), client, current: password }),
  fc.record({ kind: fc.constant('set' as const), password }),
  fc.record({ kind: fc.constant('ask') }),
  weighted(4, fc.record({ kind: fc.constant('wait') })),
  fc.record({ kind: fc.constant('reset' as const), link: fc.nat(5), password }),
  fc.record({ kind: fc.constant('move' as const), back: fc.boolean() }),
  fc.record({ kind: fc.constantFrom('promote', 'demote', 'rename', 'end all', 'delete') }),
  weighted(2, fc.record({ kind: fc.constantFrom('suspend', 'lift') })),
);
export type Command = typeof command extends fc.Arbitrary<infer C> ? C : never;

interface Session {
  readonly id: string;
  readonly isOpen: boolean;
  /** Its newest pair of tokens; pairs are counted, from 0 on. */
  readonly newest: number;
  /** The pair whose refresh token was exchanged for the newest one. */
  readonly before?: number;
  /** The oldest pair whose access tokens are valid. */
  readonly oldest: number;
  /** Whether an access token of the newest pair was used. */
  readonly isUsed: boolean;
  /** Whether the newest pair was first given more than a minute ago. */
  readonly isOld: boolean;
}

/** The tokens that a client keeps after a login or a refresh. */
interface Client {
  readonly token: string;
  readonly refreshToken: string;
  /** Which session and which pair of it they are of. */
  readonly session: number;
  readonly pair: number;
}

/** The state of the user, as the model expects it. */
export interface State {
  readonly password: string;
  readonly role: string;
  readonly isThere: boolean;
  readonly isSuspended: boolean;
  readonly sessions: readonly Session[];
  /** One for each response with tokens that was not lost. */
  readonly clients: readonly Client[];
  /** The addresses that the user has had, the last one its own. */
  readonly emails: readonly string[];
  /** The tokens of its links, and the one that is good. */
  readonly links: readonly string[];
  readonly goodLink?: string | undefined;
}

export const chosen = <T>(all: readonly T[], which: number) => all[which % all.length] as T;

/** The client of a command, its session, and whether its access token opens anything. */
export const clientOf = ({ isThere, sessions, clients }: State, which: number) => {
  const used = chosen(clients, which);
  const session = sessions[used.session] as Session;
  const isOpen = isThere && session.isOpen;
  return { ...used, session, isOpen, isGood: isOpen && used.pair >= session.oldest };
};

type Expected = readonly [status: number, after: State];

const withSession = (state: State, { id }: Session, changed: Partial<Session>): State => ({
  ...state,
  sessions: state.sessions.map((each) => (each.id === id ? { ...each, ...changed } : each)),
});

/** A change that ends all sessions but one, if there is one. */
const changes = (state: State, changed: Partial<State>, kept?: Session): State => ({
  ...state,
  ...changed,
  sessions: state.sessions.map((each) =>
    each.id === kept?.id ? each : { ...each, isOpen: false },
  ),
});

const afterRefresh = (state: State, which: number): Expected => {
  const { isOpen, session, pair } = clientOf(state, which);
  const { newest, before, isUsed, isOld } = session;
  if (!isOpen) return [401, state];
  const next = { newest: newest + 1, before: pair, isUsed: false, isOld: false };
  if (pair === newest) return [200, withSession(state, session, next)];
  if (pair === before && !isOld) return [200, state];
  if (pair !== before || isUsed) return [401, withSession(state, session, { isOpen: false })];
  return [200, withSession(state, session, { ...next, oldest: next.newest })];
};

/** An access token that is good was used. */
const withUse = (state: State, which: number): State => {
  const { isGood, session, pair } = clientOf(state, which);
  return isGood && pair === session.newest ? withSession(state, session, { isUsed: true }) : state;
};

const afterLogout = (state: State, which: number): Expected => {
  const { isGood, session } = clientOf(state, which);
  if (!state.isThere) return [204, state];
  if (!isGood) return [401, state];
  return [204, withSession(state, session, { isOpen: false })];
};

const afterEnd = (state: State, which: number): Expected => {
  const session = chosen(state.sessions, which);
  return [session.isOpen ? 204 : 404, withSession(state, session, { isOpen: false })];
};

const afterRole = (state: State, role: string): State =>
  role === 'user' && state.role === 'admin' ? changes(state, { role }) : { ...state, role };

/** A password that is set voids the links of before. */
const withPassword = (state: State, password: string, kept?: Session): State =>
  changes(state, { password, goodLink: undefined }, kept);

export const chosenLink = ({ links }: State, which: number) => chosen(links, which) ?? '1.x';

const afterReset = (state: State, which: number, password: string): Expected => {
  const link = chosenLink(state, which);
  const isGood = state.isThere && !state.isSuspended && link === state.goodLink;
  if (!isGood) return [400, state];
  return [204, withPassword(state, password)];
};

/** To another address, or to the first one. */
const afterMove = (state: State, back: boolean): State => {
  const email = (back ? state.emails[0] : undefined) ?? uniqueEmail();
  const isMoved = email !== state.emails.at(-1);
  const goodLink = isMoved ? undefined : state.goodLink;
  return { ...state, emails: [...state.emails, email], goodLink };
};

/** The expected outcome of a request of the admin about the user, if the user exists. */
const ofAdmin = (state: State, { kind, ...rest }: Command): Expected => {
  if (!state.isThere) return [404, state];
  switch (kind) {
    case 'set':
      return [200, withPassword(state, (rest as { password: string }).password)];
    case 'move':
      return [200, afterMove(state, (rest as { back: boolean }).back)];
    case 'promote':
      return [200, afterRole(state, 'admin')];
    case 'demote':
      return [200, afterRole(state, 'user')];
    case 'end all':
      return [204, changes(state, {})];
    case 'suspend': {
      // The suspension of a user who is suspended already changes nothing, nor a link from in between.
      const goodLink = state.isSuspended ? state.goodLink : undefined;
      return [204, changes(state, { isSuspended: true, goodLink })];
    }
    case 'lift':
      return [204, { ...state, isSuspended: false }];
    case 'delete':
      return [204, { ...state, isThere: false }];
    default:
      return [200, state];
  }
};

const afterLogin = (state: State, password: string): Expected => {
  const right = state.isSuspended ? 403 : 200;
  const status = state.password === password ? right : 401;
  return [state.isThere ? status : 404, state];
};

/** The expected outcome of a request by a client with its token. */
const ofClient = (state: State, asked: Extract<Command, { client: number }>): Expected => {
  const { isGood, session } = clientOf(state, asked.client);
  if (!isGood) return [401, state];
  if ('current' in asked && asked.current !== state.password) return [403, state];
  switch (asked.kind) {
    case 'end others':
      return [204, changes(state, {}, session)];
    case 'end':
      return afterEnd(state, asked.session);
    case 'leave':
      return [204, { ...state, isThere: false }];
    case 'change':
      return [200, withPassword(state, asked.password, session)];
    default:
      return [200, state];
  }
};

export const outcomeOf = (state: State, asked: Command): Expected => {
  if (asked.kind === 'login') return afterLogin(state, asked.password);
  if (asked.kind === 'reset') return afterReset(state, asked.link, asked.password);
  if (asked.kind === 'refresh') return afterRefresh(state, asked.client);
  if (!('client' in asked)) return ofAdmin(state, asked);
  const used = withUse(state, asked.client);
  if (asked.kind === 'logout') return afterLogout(used, asked.client);
  return ofClient(used, asked);
};

type Tokens = Pick<Client, 'token' | 'refreshToken'>;

const first = { isOpen: true, newest: 0, oldest: 0, isUsed: false, isOld: false };

export const withLogin = (state: State, tokens: Tokens): State => ({
  ...state,
  sessions: [...state.sessions, { ...first, id: sessionIn(tokens) }],
  clients: [...state.clients, { ...tokens, session: state.sessions.length, pair: 0 }],
});

/** @throws {Error} when the new tokens are of another session, or not of its newest pair */
const withRefresh = (state: State, which: number, { token, refreshToken }: Tokens): State => {
  const { session: index } = chosen(state.clients, which);
  const { id, newest } = state.sessions[index] as Session;
  const ofSession = state.clients.filter(({ session }) => session === index);
  if (sessionIn({ token }) !== id) throw new Error('The tokens are of another session');
  for (const given of ofSession) {
    if ((given.pair === newest) !== (given.refreshToken === refreshToken)) {
      throw new Error('The tokens are not of the newest pair');
    }
  }
  const client = { token, refreshToken, session: index, pair: newest };
  return { ...state, clients: [...state.clients, client] };
};

/** @throws {Error} when the list does not have the open sessions, or another is the client’s own */
const checkList = (state: State, which: number, data: { id: string; current: boolean }[]) => {
  const { session } = clientOf(state, which);
  const open = state.sessions.filter(({ isOpen }) => isOpen);
  const listed = open.map(({ id }) => ({ id, current: id === session.id }));
  const byId = (a: { id: string }, b: { id: string }) => a.id.localeCompare(b.id);
  const shown = data.map(({ id, current }) => ({ id, current }));
  if (!isDeepStrictEqual(shown.toSorted(byId), listed.toSorted(byId))) {
    throw new Error(`Listed are ${JSON.stringify(shown)}, not ${JSON.stringify(listed)}`);
  }
};

export const withAnswer = (state: State, asked: Command, { status, body }: ApiAnswer): State => {
  if (status !== 200) return state;
  if (asked.kind === 'login') return withLogin(state, body);
  if (asked.kind === 'refresh' && !asked.isLost) return withRefresh(state, asked.client, body);
  if (asked.kind === 'list') checkList(state, asked.client, body.data);
  return state;
};

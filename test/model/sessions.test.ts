import fc from 'fast-check';
import { describe, it } from 'vitest';
import { serviceForThisFile } from '../support/acceptance.ts';
import type { ApiAnswer } from '../support/client.ts';
import { register, uniqueEmail } from '../support/client.ts';
import { mailSettings } from '../support/mailbox.ts';
import { plantLinkToken } from '../support/reset-tokens.ts';
import { counted, holds } from '../support/runs.ts';

const service = await serviceForThisFile({
  ...mailSettings,
  SESSIONS: 'revocable',
  CURRENT_PASSWORD: 'required',
  SELF_DELETION: 'on',
  LOGIN_FAILURES_PER_ACCOUNT: '0',
  LOGIN_FAILURES_PER_ADDRESS: '0',
});
const { adminToken } = service;
const call = counted(
  ([method, path, options = {}]: Parameters<typeof service.api>): Promise<ApiAnswer> =>
    service.api(method, path, options),
);

const passwords = ['one', 'other'];
const password = fc.constantFrom(...passwords);
/** Which of the tokens that there are. */
const token = fc.nat(5);

const command = fc.oneof(
  fc.record({ kind: fc.constant('login' as const), password }),
  fc.record({ kind: fc.constant('profile' as const), token }),
  fc.record({ kind: fc.constant('logout' as const), token, all: fc.boolean() }),
  fc.record({ kind: fc.constant('change' as const), token, current: password, password }),
  fc.record({ kind: fc.constant('leave' as const), token, current: password }),
  fc.record({ kind: fc.constant('set' as const), password }),
  fc.record({ kind: fc.constant('ask' as const) }),
  fc.record({ kind: fc.constant('reset' as const), link: fc.nat(5), password }),
  fc.record({ kind: fc.constant('move' as const), back: fc.boolean() }),
  fc.record({ kind: fc.constantFrom('promote', 'demote', 'rename', 'revoke', 'delete') }),
);
type Command = typeof command extends fc.Arbitrary<infer C> ? C : never;

/** What there is, as the model has it. */
interface State {
  readonly password: string;
  readonly role: string;
  readonly isThere: boolean;
  /** One for each session, open or not. */
  readonly tokens: readonly string[];
  /** The tokens whose sessions have not ended. */
  readonly open: readonly string[];
  /** The addresses that the user has had, the last one its own. */
  readonly emails: readonly string[];
  /** The tokens of its links, and the one that is good. */
  readonly links: readonly string[];
  readonly goodLink?: string | undefined;
}

const chosen = ({ tokens }: State, which: number) => tokens[which % tokens.length] ?? '';

/** Whether a token opens anything. */
const isGood = ({ isThere, open }: State, used: string) => isThere && open.includes(used);

type Expected = readonly [status: number, after: State];

/** A change that ends all sessions but that of a token, if there is one. */
const changes = (state: State, changed: Partial<State>, kept?: string): State => ({
  ...state,
  ...changed,
  open: state.open.filter((each) => each === kept),
});

const afterLogout = (state: State, which: number, all: boolean): Expected => {
  const used = chosen(state, which);
  if (!state.isThere) return [204, state];
  if (!isGood(state, used)) return [401, state];
  if (all) return [204, changes(state, {})];
  return [204, { ...state, open: state.open.filter((each) => each !== used) }];
};

const afterRole = (state: State, role: string): State =>
  role === 'user' && state.role === 'admin' ? changes(state, { role }) : { ...state, role };

/** A password that is set voids the links of before. */
const withPassword = (state: State, password: string, kept?: string): State =>
  changes(state, { password, goodLink: undefined }, kept);

const chosenLink = ({ links }: State, which: number) => links[which % links.length] ?? '1.x';

const afterReset = (state: State, which: number, password: string): Expected => {
  const link = chosenLink(state, which);
  if (!state.isThere || link !== state.goodLink) return [400, state];
  return [204, withPassword(state, password)];
};

/** To another address, or to the first one. */
const afterMove = (state: State, back: boolean): State => {
  const email = (back ? state.emails[0] : undefined) ?? uniqueEmail();
  const isMoved = email !== state.emails.at(-1);
  const goodLink = isMoved ? undefined : state.goodLink;
  return { ...state, emails: [...state.emails, email], goodLink };
};

/** What becomes of what the admin does to the user, where that is there. */
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
    case 'revoke':
      return [204, changes(state, {})];
    case 'delete':
      return [204, { ...state, isThere: false }];
    default:
      return [200, state];
  }
};

const afterLogin = (state: State, password: string): Expected => {
  const status = state.password === password ? 200 : 401;
  return [state.isThere ? status : 404, state];
};

const outcomeOf = (state: State, asked: Command): Expected => {
  if (asked.kind === 'login') return afterLogin(state, asked.password);
  if (asked.kind === 'reset') return afterReset(state, asked.link, asked.password);
  if (!('token' in asked)) return ofAdmin(state, asked);
  if (asked.kind === 'logout') return afterLogout(state, asked.token, asked.all);
  if (!isGood(state, chosen(state, asked.token))) return [401, state];
  if (asked.kind === 'profile') return [200, state];
  if (asked.current !== state.password) return [403, state];
  if (asked.kind === 'leave') return [204, { ...state, isThere: false }];
  return [200, withPassword(state, asked.password, chosen(state, asked.token))];
};

const rolesOf: Readonly<Record<string, object>> = {
  promote: { role: 'admin' },
  demote: { role: 'user' },
  rename: { name: 'New' },
};

/** The request that a command is. */
const requestOf = (
  state: State,
  id: number,
  asked: Command,
  after: State,
): Parameters<typeof service.api> => {
  const user = `/api/users/${id}`;
  const bearer = 'token' in asked ? chosen(state, asked.token) : adminToken;
  const options = bearer ? { token: bearer } : {};
  switch (asked.kind) {
    case 'login':
      return [
        'POST',
        '/api/login',
        { json: { email: state.emails.at(-1), password: asked.password } },
      ];
    case 'reset': {
      const json = { token: chosenLink(state, asked.link), password: asked.password };
      return ['PUT', '/api/password-resets', { json }];
    }
    case 'move':
      return ['PUT', user, { ...options, json: { email: after.emails.at(-1) } }];
    case 'profile':
      return ['GET', '/api/profile', options];
    case 'logout':
      return ['POST', `/api/logout${asked.all ? '?scope=all' : ''}`, options];
    case 'change': {
      const json = { password: asked.password, currentPassword: asked.current };
      return ['PUT', user, { ...options, json }];
    }
    case 'leave': {
      const json = { currentPassword: asked.current };
      return ['POST', '/api/account-deletions', { ...options, json }];
    }
    case 'set':
      return ['PUT', user, { ...options, json: { password: asked.password } }];
    case 'revoke':
      return ['POST', `${user}/revocations`, options];
    case 'delete':
      return ['DELETE', user, options];
    default:
      return ['PUT', user, { ...options, json: rolesOf[asked.kind] ?? {} }];
  }
};

const withToken = (state: State, { status, body }: ApiAnswer): State => {
  if (status !== 200 || !body.token) return state;
  const { token: fresh } = body;
  return { ...state, tokens: [...state.tokens, fresh], open: [...state.open, fresh] };
};

/** A link is made, where there is a user, without a mail. */
const withLink = async (state: State, id: number): Promise<State> => {
  if (!state.isThere) return state;
  const link = await plantLinkToken(service.environment, id);
  return { ...state, links: [...state.links, link], goodLink: link };
};

/** Sends a command. @returns what there is then @throws {Error} when the model says otherwise */
const follow = async (state: State, id: number, asked: Command): Promise<State> => {
  if (asked.kind === 'ask') return withLink(state, id);
  const [status, after] = outcomeOf(state, asked);
  const answer = await call(requestOf(state, id, asked, after));
  if (answer.status !== status) {
    throw new Error(`${JSON.stringify(asked)}: ${answer.status}, not ${status}`);
  }
  return withToken(after, answer);
};

describe('The sessions of a user, and the links that reset its password, behave like a model', () => {
  it('whatever ends them, in whatever order', async () => {
    const run = async (commands: readonly Command[]) => {
      const account = await register(service.api, { password: 'one' });
      let state: State = {
        ...{ password: 'one', role: 'user', isThere: true },
        ...{ tokens: [account.token], open: [account.token], emails: [account.email], links: [] },
      };
      for (const asked of commands) state = await follow(state, account.id, asked);
    };

    const commands = fc.array(command, { minLength: 1, maxLength: 25, size: 'max' });
    await holds(80, fc.asyncProperty(commands, run));
  });
});

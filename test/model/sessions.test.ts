import fc from 'fast-check';
import { inject, it } from 'vitest';
import { serviceForThisFile } from '../support/acceptance.ts';
import { type ApiAnswer, register } from '../support/client.ts';
import { mailSettings } from '../support/mailbox.ts';
import { plantLinkToken } from '../support/reset-tokens.ts';
import { counted, holds } from '../support/runs.ts';
import { ageSessions } from '../support/stored-items.ts';
import {
  type Command,
  chosen,
  chosenLink,
  clientOf,
  command,
  outcomeOf,
  type State,
  withAnswer,
  withLogin,
} from './sessions-model.ts';

const service = await serviceForThisFile({
  ...mailSettings,
  SESSION_DAYS: '90',
  SELF_DELETION: 'on',
  LOGIN_FAILURES_PER_ACCOUNT: '0',
  LOGIN_FAILURES_PER_ADDRESS: '0',
});
const { adminToken } = service;
const call = counted(
  ([method, path, options = {}]: Parameters<typeof service.api>): Promise<ApiAnswer> =>
    service.api(method, path, options),
);

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
  const used = 'client' in asked ? clientOf(state, asked.client) : undefined;
  const options = { token: used?.token ?? adminToken };
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
    case 'refresh':
      return ['POST', '/api/refresh', { json: { refreshToken: used?.refreshToken } }];
    case 'list':
      return ['GET', `${user}/sessions`, options];
    case 'end others':
    case 'end all':
      return ['DELETE', `${user}/sessions`, options];
    case 'end':
      return ['DELETE', `${user}/sessions/${chosen(state.sessions, asked.session).id}`, options];
    case 'profile':
      return ['GET', '/api/profile', options];
    case 'logout':
      return ['POST', '/api/logout', options];
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
    case 'suspend':
      return ['PUT', `${user}/suspension`, options];
    case 'lift':
      return ['DELETE', `${user}/suspension`, options];
    case 'delete':
      return ['DELETE', user, options];
    default:
      return ['PUT', user, { ...options, json: rolesOf[asked.kind] ?? {} }];
  }
};

/** A link is made, where there is a user, without a mail. */
const withLink = async (state: State, id: number): Promise<State> => {
  if (!state.isThere) return state;
  const link = await plantLinkToken(service.environment, id);
  return { ...state, links: [...state.links, link], goodLink: link };
};

/** Two minutes pass. */
const wait = async (state: State, id: number): Promise<State> => {
  await ageSessions(inject('engine'), service.environment.USERS_TABLE ?? '', id, 2 * 60_000);
  return { ...state, sessions: state.sessions.map((each) => ({ ...each, isOld: true })) };
};

/** Sends a command. @returns what there is then @throws {Error} when the model says otherwise */
const follow = async (state: State, id: number, asked: Command): Promise<State> => {
  if (asked.kind === 'ask') return withLink(state, id);
  if (asked.kind === 'wait') return wait(state, id);
  const [status, after] = outcomeOf(state, asked);
  const answer = await call(requestOf(state, id, asked, after));
  if (answer.status !== status) {
    throw new Error(`${JSON.stringify(asked)}: ${answer.status}, not ${status}`);
  }
  return withAnswer(after, asked, answer);
};

it('The sessions and the reset links of a user behave like a model, whatever ends them', async () => {
  const run = async (commands: readonly Command[]) => {
    const account = await register(service.api, { password: 'one' });
    const { id, token, refreshToken = '' } = account;
    const nothing = { sessions: [], clients: [], links: [], emails: [account.email] };
    const before = {
      ...nothing,
      password: 'one',
      role: 'user',
      isThere: true,
      isSuspended: false,
    };
    let state = withLogin(before, { token, refreshToken });
    for (const asked of commands) state = await follow(state, id, asked);
    const clients = [...state.clients.keys()];
    for (const client of clients) state = await follow(state, id, { kind: 'list', client });
    for (const client of clients) {
      state = await follow(state, id, { kind: 'refresh', client, isLost: false });
    }
  };

  const commands = fc.array(command, { minLength: 1, maxLength: 40, size: 'max' });
  await holds(120, fc.asyncProperty(commands, run));
});

/** How sessions are refreshed, shown and ended. */
import * as v from 'valibot';
import { refreshRequest } from '../auth/credentials.ts';
import { hasSessions } from '../settings.ts';
import { exampleTokens } from './accounts.ts';
import { sessions, sessionUnder } from './named-schemas.ts';
import type { Describe, Operation, Operations } from './operation.ts';

const exampleSession = 'R0h2kQ9mT4yWcXbZ1nLp7A';

export const refresh = {
  caller: 'anyone',
  body: refreshRequest,
  storageFault: ['Error refreshing token', 'err'],
} as const satisfies Operation;

const refreshDescription: Describe = (settings) => {
  const example = exampleTokens(settings);
  return {
    exists: hasSessions(settings),
    id: 'refresh',
    tag: 'Accounts',
    summary: 'Refresh the token',
    text: 'Exchanges a refresh token for a new token and the next refresh token. Each is used once; the last one that was used is answered with the same next one for a minute, and with another one as long as nothing of that response was used. Any other use of a used one ends the session.',
    bodyExample: { refreshToken: example.refreshToken },
    success: {
      status: 200,
      description: 'The session goes on.',
      schema: sessionUnder(settings),
      example: { message: 'Token refreshed', ...example },
    },
    errors: ['REFRESH_TOKEN_REQUIRED', 'REFRESH_TOKEN_INVALID', 'TOKEN_FAULT'],
  };
};

export const logOut = {
  caller: 'user',
  query: {
    scope: v.optional(
      v.pipe(
        v.picklist(['all'], 'must be all, or absent'),
        v.description('`all`: all sessions of the user; absent: that of the token.'),
      ),
    ),
  },
  storageFault: ['Error logging out', 'err'],
} as const satisfies Operation;

const logOutDescription: Describe = (settings) => ({
  exists: hasSessions(settings),
  id: 'logOut',
  tag: 'Accounts',
  summary: 'Log out',
  text: 'The token is refused from then on. A token of a user who was deleted is logged out too.',
  success: { status: 204, description: 'The session is ended.' },
  errors: ['PARAMETER_INVALID'],
});

export const revokeSessions = {
  caller: 'admin',
  storageFault: ['Error revoking sessions', 'err'],
} as const satisfies Operation;

const revokeSessionsDescription: Describe = (settings) => ({
  exists: hasSessions(settings),
  id: 'revokeSessions',
  tag: 'Users',
  summary: 'End all sessions of a user',
  text: 'Every token that the user has is refused from then on; the user may log in again.',
  success: { status: 204, description: 'The sessions are ended.' },
  errors: ['USER_NOT_FOUND'],
});

export const listSessions = {
  caller: 'self',
  storageFault: ['Error listing sessions', 'err'],
} as const satisfies Operation;

const listSessionsDescription: Describe = (settings) => ({
  exists: hasSessions(settings),
  id: 'listSessions',
  tag: 'Users',
  summary: 'List the sessions of a user',
  text: 'Newest first, without those that have ended.',
  success: {
    status: 200,
    description: 'The sessions.',
    schema: sessions,
    example: {
      data: [
        {
          id: exampleSession,
          created_at: '2026-11-20T09:00:00.000Z',
          last_used_at: '2026-11-20T09:00:00.000Z',
          expires_at: '2026-11-21T09:00:00.000Z',
          ip_address: '203.0.113.7',
          user_agent: 'Mozilla/5.0',
          current: true,
        },
      ],
    },
  },
  errors: ['USER_NOT_FOUND'],
});

export const endSession = {
  caller: 'self',
  storageFault: ['Error ending session', 'err'],
} as const satisfies Operation;

const endSessionDescription: Describe = (settings) => ({
  exists: hasSessions(settings),
  id: 'endSession',
  tag: 'Users',
  summary: 'End a session of a user',
  text: 'Its tokens are refused from then on.',
  success: { status: 204, description: 'The session is ended.' },
  errors: ['USER_NOT_FOUND', 'SESSION_NOT_FOUND'],
});

export const endOtherSessions = {
  caller: 'self',
  storageFault: ['Error ending sessions', 'err'],
} as const satisfies Operation;

const endOtherSessionsDescription: Describe = (settings) => ({
  exists: hasSessions(settings),
  id: 'endOtherSessions',
  tag: 'Users',
  summary: 'End all other sessions of a user',
  text: 'All sessions of the user end but that of the request: for an admin, all of another user.',
  success: { status: 204, description: 'The sessions are ended.' },
  errors: ['USER_NOT_FOUND'],
});

export const operations = {
  'POST /api/refresh': [refresh, refreshDescription],
  'POST /api/logout': [logOut, logOutDescription],
  'POST /api/users/{id}/revocations': [revokeSessions, revokeSessionsDescription],
  'GET /api/users/{id}/sessions': [listSessions, listSessionsDescription],
  'DELETE /api/users/{id}/sessions': [endOtherSessions, endOtherSessionsDescription],
  'DELETE /api/users/{id}/sessions/{session}': [endSession, endSessionDescription],
} as const satisfies Operations;

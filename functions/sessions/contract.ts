import * as v from 'valibot';
import type { Contract, Descriptions } from '../../lib/contract/contract.ts';
import { named, timestamp } from '../../lib/contract/schemas.ts';
import { hasSessions } from '../../lib/ground/settings.ts';
import { described } from '../../lib/ground/validation.ts';

export const list = {
  route: 'GET /api/users/{id}/sessions',
  exists: hasSessions,
  may: 'sessionsOf',
  storageFault: ['Error listing sessions', 'err'],
} as const satisfies Contract;

export const endOthers = {
  route: 'DELETE /api/users/{id}/sessions',
  exists: hasSessions,
  may: 'sessionsOf',
  storageFault: ['Error ending sessions', 'err'],
} as const satisfies Contract;

export const end = {
  route: 'DELETE /api/users/{id}/sessions/{session}',
  exists: hasSessions,
  may: 'sessionsOf',
  storageFault: ['Error ending session', 'err'],
} as const satisfies Contract;

export const tag = 'Users';

export const descriptions: Descriptions = {
  list: () => ({
    id: 'listSessions',
    summary: 'List the sessions of a user',
    text: 'Newest first, without those that have ended.',
    success: {
      status: 200,
      description: 'The sessions.',
      schema: named('Sessions', v.object({ data: v.array(sessionOfUser()) })),
      example: {
        data: [
          {
            id: 'R0h2kQ9mT4yWcXbZ1nLp7A',
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
  }),

  endOthers: () => ({
    id: 'endOtherSessions',
    summary: 'End all other sessions of a user',
    text: 'Of their own sessions, users end all but that of the request. Admins end all sessions of another user, who may log in again.',
    success: { status: 204, description: 'The sessions are ended.' },
  }),

  end: () => ({
    id: 'endSession',
    summary: 'End a session of a user',
    text: 'Its tokens are refused from then on.',
    success: { status: 204, description: 'The session is ended.' },
    errors: ['SESSION_NOT_FOUND'],
  }),
};

function sessionOfUser() {
  return named(
    'SessionOfUser',
    v.object({
      id: v.string(),
      created_at: timestamp(),
      last_used_at: described(timestamp(), 'When it last got a new token.'),
      expires_at: timestamp(),
      ip_address: v.nullable(v.string()),
      user_agent: described(v.nullable(v.string()), 'Its first 160 bytes.'),
      current: described(v.boolean(), 'Whether it is that of the request.'),
    }),
  );
}

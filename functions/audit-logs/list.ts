import { actions } from '../../lib/audit/entry.ts';
import { type AuditFilter, listEntries } from '../../lib/audit/store.ts';
import { invalidParameter } from '../../lib/errors.ts';
import { adminOnly } from '../../lib/http/access.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import {
  nextPageLink,
  pageParameters,
  parsePageRequest,
  readParameters,
} from '../../lib/http/pagination.ts';
import type { ApiRequest } from '../../lib/http/request.ts';

const parseUserIdFilter = (text: string | undefined): number | undefined => {
  if (text === undefined) return undefined;
  const userId = /^-?\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(userId)) throw invalidParameter('userId', 'must be an integer');
  return userId;
};

const parseActionFilter = (text: string | undefined) => {
  if (text === undefined) return undefined;
  const action = actions.find((candidate) => candidate === text);
  if (!action) throw invalidParameter('action', `must be one of ${actions.join(', ')}`);
  return action;
};

const parseFilter = (request: ApiRequest): AuditFilter => {
  const { userId, action } = readParameters(request, ['userId', 'action', ...pageParameters]);
  return { userId: parseUserIdFilter(userId), action: parseActionFilter(action) };
};

/** GET /api/admin/audit-logs */
export const handler = endpoint(
  { access: adminOnly, storageFault: ['Error fetching audit logs', 'err'] },
  async (request) => {
    const filter = parseFilter(request);
    const scope = `audit-logs?userId=${filter.userId ?? ''}&action=${filter.action ?? ''}`;
    const page = await parsePageRequest(request, scope);
    const { entries, next } = await listEntries(filter, page);
    const headers = await nextPageLink(request, scope, next);
    return { statusCode: 200, headers, body: { data: entries } };
  },
);

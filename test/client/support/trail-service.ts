/**
 * POST /api/admin/audit-logs of a service, on loopback, for faults that the real one shows by chance alone: it loses
 * responses, fails and refuses keys when a test says so. It is strict in what it takes, and never stores a key twice.
 */
import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterAll, beforeEach } from 'vitest';
import { startLoopback } from '../../support/loopback.ts';

interface Posted {
  readonly entries: readonly Readonly<Record<string, unknown>>[];
}

/** A request as it arrived. */
export interface Arrived {
  readonly key: string | undefined;
  readonly id: string;
  readonly body: string;
}

type Respond = (response: ServerResponse) => unknown;

/** What happens to a request: it is answered before it is looked at, or its own answer is replaced or lost. */
export interface Fault {
  readonly before?: Respond;
  readonly after?: Respond;
}

const answerWith =
  (status: number, headers: Record<string, string> = {}, body = ''): Respond =>
  (response) =>
    response.writeHead(status, headers).end(body);

const destroy: Respond = ({ socket }) => socket?.destroy();
const json = { 'content-type': 'application/json' };

export const faults = {
  'a connection that breaks before anything is stored': { before: destroy },
  'a response that is lost': { after: destroy },
  'a response that is cut off': {
    after: (response) => {
      response.writeHead(201, { ...json, 'content-length': '100' });
      response.write('{"data":[');
      setImmediate(() => response.socket?.destroy());
    },
  },
  'a page in place of the response': {
    before: answerWith(200, { 'content-type': 'text/html' }, '<!doctype html>'),
  },
  'a response about fewer entries': { after: answerWith(201, json, '{"data":[]}') },
  'a fault of the service': {
    before: answerWith(500, { ...json, 'error-code': 'SERVER_FAULT' }, '{}'),
  },
  'a fault after which some is stored': {
    after: answerWith(500, { ...json, 'error-code': 'AUDIT_FAULT' }, '{}'),
  },
  'a gateway that fails': { before: answerWith(502, {}, 'Bad Gateway') },
  'a throttle': { before: answerWith(429, { 'retry-after': '7' }) },
} satisfies Readonly<Record<string, Fault>>;

/** Runs the service for the tests of one file; each test begins with an empty one. */
export const trailServiceForThisFile = async () => {
  const state = fresh();
  beforeEach(() => void Object.assign(state, fresh()));
  const { url, stop } = await startLoopback((request, body, response) => {
    const { before, after } = state.faults.shift() ?? {};
    state.arrived.push({
      key: request.headers.authorization?.replace('Bearer ', ''),
      id: String(request.headers['idempotency-key']),
      body,
    });
    if (before) return before(response);
    const [status, json] = answerTo(state, request, body);
    if (after) return after(response);
    const type = status < 400 ? 'application/json' : 'application/problem+json';
    const { code } = json as { code?: string };
    const headers = { 'content-type': type, ...(code && { 'error-code': code }) };
    return response.writeHead(status, headers).end(JSON.stringify(json));
  });
  afterAll(stop);
  return { url, state };
};

const fresh = () => ({
  /** The keys of machines that may write. */
  keys: ['mk_1_good'],
  /** What happens to the next requests. */
  faults: [] as Fault[],
  arrived: [] as Arrived[],
  /** By their Idempotency-Key. */
  stored: new Map<string, { readonly content: string; readonly data: readonly object[] }>(),
  entries: [] as Readonly<Record<string, unknown>>[],
});

type State = ReturnType<typeof fresh>;

const answerTo = (
  state: State,
  request: IncomingMessage,
  body: string,
): readonly [number, object] => {
  const refused = refusalOf(state, request, body);
  if (refused) return refused;
  const { entries } = JSON.parse(body) as Posted;
  if (entries.length < 1 || entries.length > 25) return refusal(400, 'FIELD_INVALID');
  const errors = entries.flatMap((entry, index) => faultsOf(entry, `#/entries/${index}`));
  if (errors.length > 0) return [400, { ...refusal(400, 'FIELD_INVALID')[1], errors }];
  return store(state, String(request.headers['idempotency-key']), entries);
};

/** The refusal of a request by its path, its headers or its size. */
const refusalOf = ({ keys }: State, { method, url, headers }: IncomingMessage, body: string) => {
  if (method !== 'POST' || url !== '/api/admin/audit-logs') return refusal(404, 'NOT_FOUND');
  const [, key = ''] = /^Bearer (\S+)$/.exec(headers.authorization ?? '') ?? [];
  if (!keys.includes(key)) return refusal(401, 'TOKEN_INVALID', 'Invalid token');
  const id = headers['idempotency-key'];
  if (id === undefined) return refusal(400, 'IDEMPOTENCY_KEY_REQUIRED');
  if (!/^[!-~]{1,64}$/.test(String(id))) return refusal(400, 'IDEMPOTENCY_KEY_INVALID');
  if (headers['content-type'] !== 'application/json') return refusal(415, 'BODY_MEDIA_TYPE');
  return Buffer.byteLength(body) > 64 * 1024 ? refusal(413, 'BODY_TOO_LARGE') : undefined;
};

const refusal = (status: number, code: string, title = code) =>
  [status, { type: 'about:blank', title, status, code }] as const;

const actions = ['CREATE', 'READ', 'UPDATE', 'DELETE', 'EXPORT'];

const faultsOf = (entry: Posted['entries'][number], pointer: string) => {
  const valid = {
    action: actions.includes(String(entry.action)),
    resource: /^[a-z][a-z0-9-]*(\.[a-z0-9-]+)+$/.test(String(entry.resource)),
    result: ['SUCCESS', 'FAILURE'].includes(String(entry.result)),
    details: JSON.stringify(entry.details ?? null).length <= 2048,
    occurredAt: !Number.isNaN(Date.parse(String(entry.occurredAt))),
  };
  return Object.entries(valid)
    .filter(([, isValid]) => !isValid)
    .map(([name]) => ({ pointer: `${pointer}/${name}`, code: 'INVALID', detail: 'is invalid' }));
};

const store = (state: State, id: string, entries: Posted['entries']) => {
  const content = createHash('sha256').update(JSON.stringify(entries)).digest('hex');
  const known = state.stored.get(id);
  if (known && known.content !== content) return refusal(409, 'IDEMPOTENCY_KEY_USED');
  if (known) return [200, { data: known.data }] as const;
  const data = entries.map((entry) => {
    state.entries.push(entry);
    return { id: state.entries.length, created_at: new Date().toISOString() };
  });
  state.stored.set(id, { content, data });
  return [201, { data }] as const;
};

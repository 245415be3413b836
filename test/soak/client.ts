import { once } from 'node:events';
import { Agent, request } from 'node:http';

export interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: whatever the service answers
  readonly body: any;
}

export interface Sent {
  readonly token?: string | undefined;
  readonly json?: object;
  /** Sent as it is. */
  readonly text?: string;
}

/** Milliseconds that an answer took, in the order of the answers, by endpoint. */
export type Timings = ReadonlyMap<string, readonly number[]>;

export interface Client {
  /**
   * @param endpoint what the answer's time is counted under, such as `GET /api/users/{id}`
   * @param path the request's, where it differs from the endpoint's
   */
  send(endpoint: string, sent?: Sent, path?: string): Promise<Answer>;
  readonly timings: Timings;
  close(): void;
}

const headersFor = (token: string | undefined, body: string | undefined) => ({
  ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  ...(body === undefined
    ? {}
    : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
});

const readBody = async (stream: AsyncIterable<Buffer>): Promise<unknown> => {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks.length === 0 ? undefined : JSON.parse(Buffer.concat(chunks).toString());
};

/** Milliseconds without an answer after which a request has failed. */
const patience = 35_000;

/** A client of at most so many connections, which it keeps. */
export const makeClient = (baseUrl: string, connections: number): Client => {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const timings = new Map<string, number[]>();
  const record = (endpoint: string, milliseconds: number) => {
    const list = timings.get(endpoint) ?? [];
    list.push(milliseconds);
    timings.set(endpoint, list);
  };
  const send: Client['send'] = async (endpoint, { token, json, text } = {}, target) => {
    const [method = 'GET', path = '/'] = endpoint.split(' ');
    const body = json === undefined ? text : JSON.stringify(json);
    const begun = performance.now();
    const outgoing = request(baseUrl + (target ?? path), {
      ...{ method, agent, headers: headersFor(token, body) },
      signal: AbortSignal.timeout(patience),
    });
    outgoing.end(body);
    const [incoming] = await once(outgoing, 'response');
    const answer = { status: incoming.statusCode, body: await readBody(incoming) };
    record(endpoint, performance.now() - begun);
    return answer;
  };
  return { send, timings, close: () => agent.destroy() };
};

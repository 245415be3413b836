/** A loopback proxy between the service and its DynamoDB engine, which injects every kind of fault. */
import { once } from 'node:events';
import { Agent, createServer, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../infra/local/port.ts';

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** One request of the service to the engine. */
export interface EngineRequest {
  /** The operation, such as `GetItem`. */
  readonly operation: string;
  /** The tables that the request names. */
  readonly tables: readonly string[];
  /** The content of the request, without the token that distinguishes transactions. */
  readonly content: string;
  /** The number of items that the request writes. */
  readonly writes: number;
}

/** A request on its way, as a fault handles it. */
interface Exchange {
  readonly request: EngineRequest;
  readonly socket: Socket;
  /** Passes the request on to the engine. */
  readonly forward: () => Promise<Answer>;
  readonly answer: (answer: Answer) => void;
  /** Sends the first bytes of a response, and no more. */
  readonly begin: (answer: Answer, bytes: number) => void;
}

export type Fault = (exchange: Exchange) => Promise<void> | void;

const errorAnswer = (status: number, type: string, fields: object = {}): Answer => ({
  status,
  headers: { 'content-type': 'application/x-amz-json-1.0' },
  body: Buffer.from(
    JSON.stringify({
      __type: `com.amazonaws.dynamodb.v20120810#${type}`,
      message: type,
      ...fields,
    }),
  ),
});

const refuseWith =
  (status: number, type: string): Fault =>
  ({ answer }) =>
    answer(errorAnswer(status, type));

const pass: Fault = async ({ forward, answer }) => answer(await forward());

/** Cancels a transaction, with a reason for each item. */
export const cancelFor =
  (...codes: readonly string[]): Fault =>
  ({ answer }) => {
    const CancellationReasons = codes.map((Code) => ({ Code, Message: Code }));
    answer(errorAnswer(400, 'TransactionCanceledException', { CancellationReasons }));
  };

const cancelWith =
  (code: string, otherwise: Fault): Fault =>
  (exchange) => {
    const { operation, writes } = exchange.request;
    if (operation !== 'TransactWriteItems') return otherwise(exchange);
    return cancelFor(code, ...Array<string>(writes - 1).fill('None'))(exchange);
  };

/** The faults that one request may have. */
export const faults = {
  pass,
  reset: ({ socket }) => void socket.resetAndDestroy(),
  stall: () => undefined,
  delay: async (exchange) => {
    await sleep(300);
    await pass(exchange);
  },
  /** The engine performs the request, and the response is lost. */
  lose: async ({ forward, socket }) => {
    await forward();
    socket.resetAndDestroy();
  },
  /** The engine performs the request, and never responds. */
  silence: async ({ forward }) => void (await forward()),
  truncate: async ({ forward, begin, socket }) => {
    const answer = await forward();
    begin(answer, Math.floor(answer.body.length / 2));
    await sleep(5);
    socket.destroy();
  },
  stallMidway: async ({ forward, begin }) => {
    const answer = await forward();
    begin(answer, Math.floor(answer.body.length / 2));
  },
  /** A response whose length is right, but whose content is broken, inside a secret if it has one. */
  garble: async ({ forward, answer }) => {
    const { status, headers, body } = await forward();
    const text = body.toString();
    const broken = text.includes('"$2') ? text.replace('"$2', '<"$2') : `<${text}`;
    answer({ status, headers, body: Buffer.from(broken) });
  },
  throughputExceeded: refuseWith(400, 'ProvisionedThroughputExceededException'),
  throttle: refuseWith(400, 'ThrottlingException'),
  /** Another transaction on the same items is under way: refuses single writes and transactions. */
  conflict: cancelWith('TransactionConflict', (exchange) =>
    exchange.request.writes > 0
      ? refuseWith(400, 'TransactionConflictException')(exchange)
      : pass(exchange),
  ),
  /** Too little capacity for a transaction, which DynamoDB reports as a reason for cancelling the transaction. */
  throttleTransaction: cancelWith('ThrottlingError', pass),
  /** The transaction of an earlier attempt is still under way. */
  inProgress: refuseWith(400, 'TransactionInProgressException'),
  internalError: refuseWith(500, 'InternalServerError'),
  missingTable: refuseWith(400, 'ResourceNotFoundException'),
  conditionFails: refuseWith(400, 'ConditionalCheckFailedException'),
} as const satisfies Record<string, Fault>;

/** Holds a request back before it reaches the engine. */
export const holdBack = () => {
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const fault: Fault = async (exchange) => {
    reach();
    await released;
    await pass(exchange);
  };
  /** `reached` resolves when a request is held back; `release` lets the request continue. */
  return { fault, reached, release };
};

export interface Rule {
  readonly fault: Fault;
  /** Absent: the rule applies to every operation. */
  readonly operation?: string;
  /** Absent: the rule applies to every table. */
  readonly table?: string;
  /** To how many requests the rule applies; absent: to all. */
  readonly times?: number;
  /** Whether the rule applies only to the first attempt of a request, so that its second attempt succeeds. */
  readonly firstAttempt?: boolean;
  /** A text in the content of requests to which the rule does not apply. */
  readonly except?: string;
}

export interface EngineProxy {
  readonly url: string;
  /** All requests since the last {@link EngineProxy.forget}, including repeated attempts. */
  readonly requests: readonly EngineRequest[];
  /** The sums of the capacity units and of the entries in the responses, when `measure` is set. */
  readonly consumed: { readonly units: number; readonly entries: number };
  /** Replaces the rules; the first rule that matches a request applies. */
  impose(...rules: readonly Rule[]): void;
  forget(): void;
  /** Refuses connections, and breaks open connections. */
  refuse(): Promise<void>;
  accept(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Lets one request overtake another one, which is held back at its first operation of a kind.
 * @param after the number of operations of that kind that pass before
 * @param except a text in the content of operations that do not count
 * @returns the outcomes of both requests
 */
export const overtake = async <A, B>(
  { impose }: EngineProxy,
  operation: string,
  first: () => Promise<A>,
  second: () => Promise<B>,
  { after = 0, ...which }: { after?: number } & Pick<Rule, 'except'> = {},
): Promise<[A, B]> => {
  const { fault, reached, release } = holdBack();
  impose(
    { ...which, fault: faults.pass, operation, times: after },
    { ...which, fault, operation, times: 1 },
  );
  const slow = first();
  await reached;
  const fast = await second();
  release();
  return [await slow, fast];
};

const writeOperations: readonly string[] = ['PutItem', 'UpdateItem', 'DeleteItem'];

const describe = (headers: IncomingHttpHeaders, body: Buffer): EngineRequest => {
  const operation = String(headers['x-amz-target']).split('.')[1] ?? '';
  const { ClientRequestToken: _, ...content } = JSON.parse(body.toString() || '{}');
  const items: readonly Record<string, { TableName: string }>[] = content.TransactItems ?? [];
  const named = items.flatMap((item) => Object.values(item).map(({ TableName }) => TableName));
  const batched = Object.keys(content.RequestItems ?? {});
  const tables = new Set([content.TableName, ...named, ...batched].filter(Boolean));
  return {
    operation,
    tables: [...tables],
    content: operation + JSON.stringify(content),
    writes: items.length || Number(writeOperations.includes(operation)),
  };
};

interface ActiveRule extends Rule {
  left: number;
  readonly seen: Set<string>;
}

const applies = (rule: ActiveRule, { operation, tables, content }: EngineRequest): boolean => {
  if (rule.operation !== undefined && rule.operation !== operation) return false;
  if (rule.table !== undefined && !tables.includes(rule.table)) return false;
  if (rule.except !== undefined && content.includes(rule.except)) return false;
  if (rule.left === 0 || (rule.firstAttempt && rule.seen.has(content))) return false;
  rule.left -= 1;
  rule.seen.add(content);
  return true;
};

const read = async (stream: AsyncIterable<Buffer>): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
};

const forwardTo = async (
  engine: string,
  agent: Agent,
  headers: IncomingHttpHeaders,
  body: Buffer,
): Promise<Answer> => {
  const sent = { ...headers, 'content-length': String(body.length) };
  const outgoing = httpRequest(engine, { method: 'POST', agent, headers: sent });
  outgoing.end(body);
  const [incoming] = await once(outgoing, 'response');
  const type = String(incoming.headers['content-type'] ?? 'application/x-amz-json-1.0');
  return {
    status: incoming.statusCode,
    headers: { 'content-type': type },
    body: await read(incoming),
  };
};

const measured = (body: Buffer): Buffer =>
  Buffer.from(JSON.stringify({ ...JSON.parse(body.toString()), ReturnConsumedCapacity: 'TOTAL' }));

/**
 * Starts a proxy on a port of its own.
 * @param measure requests from the engine what each request consumed, and adds it up
 */
export const startProxy = async (
  engine: string,
  { measure = false }: { measure?: boolean } = {},
): Promise<EngineProxy> => {
  // If the engine closed an idle connection, that would be a fault that no test requested: the proxy closes the
  // connection long before.
  const agent = new Agent({ keepAlive: true, timeout: 1000 });
  const sockets = new Set<Socket>();
  const consumed = { units: 0, entries: 0 };
  let requests: EngineRequest[] = [];
  let rules: ActiveRule[] = [];

  const count = ({ body }: Answer) => {
    const { ConsumedCapacity = [], ScannedCount = 0 } = JSON.parse(body.toString());
    // The response to a batch has one for each table.
    for (const { CapacityUnits } of [ConsumedCapacity].flat()) consumed.units += CapacityUnits;
    consumed.entries += ScannedCount;
  };

  // Idle connections are kept: a connection that is closed while the service uses it again would be such a fault, too.
  const server = createServer({ keepAliveTimeout: 0 }, async (incoming, response) => {
    try {
      const received = await read(incoming);
      const request = describe(incoming.headers, received);
      requests.push(request);
      const head = ({ status, headers, body }: Answer) =>
        response.writeHead(status, { ...headers, 'content-length': body.length });
      const forward = async () => {
        const body = measure ? measured(received) : received;
        const answer = await forwardTo(engine, agent, incoming.headers, body);
        if (measure) count(answer);
        return answer;
      };
      await (rules.find((rule) => applies(rule, request))?.fault ?? pass)({
        request,
        socket: incoming.socket,
        forward,
        answer: (answer) => void head(answer).end(answer.body),
        begin: (answer, bytes) => void head(answer).write(answer.body.subarray(0, bytes)),
      });
    } catch {
      // The engine has stopped, or the service gave up waiting.
      incoming.socket.destroy();
    }
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });

  const port = await freePort();
  const accept = async () => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  const refuse = async () => {
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  await accept();
  return {
    url: `http://127.0.0.1:${port}`,
    get requests() {
      return requests;
    },
    consumed,
    impose: (...imposed) => {
      rules = imposed.map((rule) => ({
        ...rule,
        left: rule.times ?? Number.POSITIVE_INFINITY,
        seen: new Set(),
      }));
    },
    forget: () => {
      requests = [];
      Object.assign(consumed, { units: 0, entries: 0 });
    },
    refuse,
    accept,
    stop: async () => {
      if (server.listening) await refuse();
      agent.destroy();
    },
  };
};

/** Stands in for EventBridge and SQS: it takes what they take, and refuses as their API says. */
import type { IncomingHttpHeaders } from 'node:http';
import { startLoopback } from './loopback.ts';

/** An event on the bus. */
export interface ReceivedEvent {
  readonly source: string;
  readonly type: string;
  // biome-ignore lint/suspicious/noExplicitAny: the detail of an event
  readonly detail: any;
  readonly time: number;
}

/** The error of a response and its status, 0 where the connection is lost; or of an event in it. */
interface Failure {
  readonly status?: number;
  readonly error?: string;
}

export interface EventBus {
  /** The variables by which the function that publishes sends here. */
  readonly environment: Readonly<Record<string, string>>;
  readonly events: ReceivedEvent[];
  /** The bodies of messages in the queue. */
  // biome-ignore lint/suspicious/noExplicitAny: the body of a message
  readonly queue: any[];
  readonly headers: IncomingHttpHeaders[];
  /** How the requests to come fail, those to the bus or to the queue; absent: they do not. */
  fail(service: 'events' | 'sqs', failure?: Failure): void;
  stop(): Promise<void>;
}

/** @see https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutEventsRequestEntry.html */
const refusalOf = ({ Detail, DetailType, Source }: Readonly<Record<string, string>>) => {
  if (!DetailType || DetailType.length > 128 || !Source) return 'InvalidArgument';
  try {
    const detail = JSON.parse(Detail ?? '');
    return typeof detail === 'object' && !Array.isArray(detail) ? undefined : 'MalformedDetail';
  } catch {
    return 'MalformedDetail';
  }
};

/** Bytes of a request to either. */
const most = 262_144;

export const startEventBus = async (): Promise<EventBus> => {
  const events: ReceivedEvent[] = [];
  const queue: unknown[] = [];
  const headers: IncomingHttpHeaders[] = [];
  const failures = new Map<string, Failure | undefined>();
  const putEvents = (body: string, entryError?: string) => {
    const { Entries } = JSON.parse(body);
    if (Buffer.byteLength(body) > most) return [400, { __type: 'ValidationException' }] as const;
    const results = Entries.map((entry: Readonly<Record<string, string>>) => {
      const ErrorCode = entryError ?? refusalOf(entry);
      if (ErrorCode) return { ErrorCode, ErrorMessage: 'refused' };
      const { Source: source, DetailType: type, Detail, Time: time } = entry;
      events.push({ source, type, detail: JSON.parse(Detail ?? ''), time } as never);
      return { EventId: String(events.length) };
    });
    const FailedEntryCount = results.filter((each: object) => 'ErrorCode' in each).length;
    return [200, { FailedEntryCount, Entries: results }] as const;
  };
  const sendMessage = (body: string) => {
    const { MessageBody } = JSON.parse(body);
    if (Buffer.byteLength(MessageBody) > most) return [400, { __type: 'InvalidMessage' }] as const;
    queue.push(JSON.parse(MessageBody));
    return [200, { MessageId: String(queue.length) }] as const;
  };
  const answerTo = (isBus: boolean, { status, error }: Failure, body: string) => {
    if (status) return [status, { __type: error }] as const;
    return isBus ? putEvents(body, error) : sendMessage(body);
  };
  const { url: origin, stop } = await startLoopback((request, body, response) => {
    headers.push(request.headers);
    const isBus = request.headers['x-amz-target'] === 'AWSEvents.PutEvents';
    const failure = failures.get(isBus ? 'events' : 'sqs') ?? {};
    if (failure.status === 0) return response.destroy();
    const [status, output] = answerTo(isBus, failure, body);
    return response.writeHead(status).end(JSON.stringify(output));
  });
  const url = `${origin}/`;
  return {
    environment: {
      EVENTS_URL: url,
      EVENT_BUS: 'accounts',
      EVENT_SOURCE: 'accounts',
      REFUSED_EVENTS_QUEUE_URL: `${url}123456789012/refused`,
    },
    events,
    queue,
    headers,
    fail: (service, failure) => failures.set(service, failure),
    stop,
  };
};

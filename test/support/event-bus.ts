/** Stands in for EventBridge and SQS: it accepts the same requests, and refuses the others as their API says. */
import type { IncomingHttpHeaders } from 'node:http';
import { AwsRefusal, startAws } from './aws.ts';

/** The error of a response and its status, 0 if the connection is lost; or the error of an event in a response. */
interface Failure {
  readonly status?: number;
  readonly error?: string;
}

// biome-ignore lint/suspicious/noExplicitAny: the detail of an event, and a message
type Json = any;

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

/** The most bytes of a request to EventBridge or SQS. */
const most = 262_144;

export const startEventBus = async () => {
  const events: { source: string; type: string; detail: Json; time: number }[] = [];
  /** The bodies of messages in the queue. */
  const queue: Json[] = [];
  const headers: IncomingHttpHeaders[] = [];
  const failures = new Map<string, Failure | undefined>();
  const serviceOf = (operation: string) => (operation === 'PutEvents' ? 'events' : 'sqs');
  const { url: origin, stop } = await startAws({
    operations: {
      PutEvents: ({ Entries }) => {
        if (Buffer.byteLength(JSON.stringify({ Entries })) > most) return undefined;
        const results = Entries.map((entry: Json) => {
          const ErrorCode = failures.get('events')?.error ?? refusalOf(entry);
          if (ErrorCode) return { ErrorCode, ErrorMessage: 'refused' };
          const { Source: source, DetailType: type, Detail, Time: time } = entry;
          events.push({ source, type, detail: JSON.parse(Detail), time });
          return { EventId: String(events.length) };
        });
        const FailedEntryCount = results.filter((each: object) => 'ErrorCode' in each).length;
        return { FailedEntryCount, Entries: results };
      },
      SendMessage: ({ MessageBody }) => {
        if (Buffer.byteLength(MessageBody) > most) return undefined;
        queue.push(JSON.parse(MessageBody));
        return { MessageId: String(queue.length) };
      },
    },
    faultOf: (request, operation) => {
      headers.push(request.headers);
      const { status, error = '' } = failures.get(serviceOf(operation)) ?? {};
      if (status === 0) return 'reset';
      return status ? new AwsRefusal(error, status) : undefined;
    },
  });
  const url = `${origin}/`;
  return {
    /** The variables that direct the publishing function to this server. */
    environment: {
      EVENTS_URL: url,
      EVENT_BUS: 'accounts',
      EVENT_SOURCE: 'accounts',
      REFUSED_EVENTS_QUEUE_URL: `${url}123456789012/refused`,
    },
    events,
    queue,
    headers,
    /** Makes later requests to the bus or the queue fail in some way; absent: they succeed. */
    fail: (service: 'events' | 'sqs', failure?: Failure) => void failures.set(service, failure),
    stop,
  };
};

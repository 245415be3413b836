import type { DynamoDBBatchItemFailure, DynamoDBBatchResponse } from 'aws-lambda';
import { namedError } from '../../lib/ground/errors.ts';
import { describeFault, logError } from '../../lib/ground/log.ts';
import { config } from '../../lib/ground/settings.ts';
import { post } from '../../lib/keys/signed-request.ts';
import { type AuditEvent, eventsOf, type StreamRecord } from '../../lib/options/events/events.ts';

const atOnce = 10;

/**
 * Puts the events of the audit table's stream on the bus. If a record fails, Lambda calls the function again with this
 * record and all records after it: an event may be put twice, but no event is lost.
 */
export async function handler(batch: { Records: StreamRecord[] }): Promise<DynamoDBBatchResponse> {
  const events = await eventsOf(batch.Records);
  for (let at = 0; at < events.length; at += atOnce) {
    const failures = await Promise.all(events.slice(at, at + atOnce).map(putOrReport));
    const batchItemFailures = failures.flat();
    if (batchItemFailures.length > 0) return { batchItemFailures };
  }
  return { batchItemFailures: [] };
}

async function putOrReport(event: AuditEvent): Promise<DynamoDBBatchItemFailure[]> {
  try {
    await put(event);
    return [];
  } catch (error) {
    logError('event-not-put', describeFault(error));
    return [{ itemIdentifier: event.sequenceNumber }];
  }
}

/** The errors after which EventBridge would refuse the same event again (PutEvents). */
const isRefusal = /^(InvalidArgument|MalformedDetail|NotAuthorizedFor\w+|ValidationException)$/;

/** Puts an event on the bus or, if the bus refuses the event, into a queue, so that it does not delay other events. */
async function put({ event }: AuditEvent): Promise<void> {
  const { eventBus: EventBusName, eventSource: Source } = config;
  const entry = { EventBusName, Source, ...event };
  const { error, output } = await call('events', 'AWSEvents.PutEvents', { Entries: [entry] });
  const refusal = error ?? output.Entries[0].ErrorCode;
  if (!refusal) return;
  if (!isRefusal.test(refusal)) throw namedError(refusal);
  const MessageBody = JSON.stringify({ error: refusal, ...entry });
  const message = { QueueUrl: config.refusedEventsQueueUrl, MessageBody };
  const kept = await call('sqs', 'AmazonSQS.SendMessage', message);
  if (kept.error) throw namedError(kept.error);
}

const protocols = { events: 'application/x-amz-json-1.1', sqs: 'application/x-amz-json-1.0' };

/** @returns the output, or the name of the error */
async function call(service: keyof typeof protocols, target: string, input: object) {
  const { eventsUrl, refusedEventsQueueUrl } = config;
  const { href: url } = new URL('/', service === 'sqs' ? refusedEventsQueueUrl : eventsUrl);
  const headers = { 'content-type': protocols[service], 'x-amz-target': target };
  const { status, text } = await post({ url, service, headers, body: JSON.stringify(input) });
  const { __type = `Http${status}`, ...output } = JSON.parse(text);
  return { error: status === 200 ? undefined : __type.split('#').at(-1), output };
}

/** How a message gets to the function that mails (functions/background/send-mail.ts). */
import { namedError } from '../../ground/errors.ts';
import { config } from '../../ground/settings.ts';
import { post } from '../../keys/signed-request.ts';

type Invoke = (body: string) => Promise<void>;

let chosen: Invoke = byLambda;

/** Takes a message as JSON. When this returns, the function will run, and again if it fails. */
export function invoke(body: string): Promise<void> {
  return chosen(body);
}

/** Has something else than Lambda take messages: on one machine the process of the service itself. */
export function invokeBy(other: Invoke): void {
  chosen = other;
}

/** An asynchronous invocation (Lambda's API reference, Invoke): Lambda runs the function later. */
async function byLambda(body: string): Promise<void> {
  const { status } = await post({
    url: config.mailFunctionUrl,
    service: 'lambda',
    headers: { 'content-type': 'application/json', 'x-amz-invocation-type': 'Event' },
    body,
  });
  if (status !== 202) throw namedError(`Http${status}`);
}

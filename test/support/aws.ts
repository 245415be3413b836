/** AWS on loopback: one server for the services of AWS that a test needs. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { startLoopback } from './loopback.ts';

/** How a request fails: before or after the server has done it, or by an error response; or how it is delayed. */
const mishaps = {
  reset: ({ socket }: ServerResponse) => socket?.resetAndDestroy(),
  'lost answer': (response: ServerResponse) => {
    response.end = () => response.destroy();
  },
  'internal error': (response: ServerResponse) => response.writeHead(500).end(),
  slow: () => sleep(100),
};
export type Mishap = keyof typeof mishaps;

/** A refusal with its name, such as NotFoundException. */
export class AwsRefusal extends Error {
  readonly status: number;
  constructor(name: string, status = 400) {
    super(name);
    this.status = status;
  }
}

// biome-ignore lint/suspicious/noExplicitAny: the JSON of a request
type Input = any;

export interface AwsServices {
  /**
   * The operations, by their names without the name of the service; an operation that returns nothing is refused as
   * invalid.
   */
  readonly operations: Readonly<Record<string, (input: Input) => object | undefined>>;
  /** Responds to the requests that name none of these operations, such as requests to S3. */
  readonly others?: (request: IncomingMessage, response: ServerResponse, body: Buffer) => unknown;
  readonly faultOf: (
    request: IncomingMessage,
    operation: string,
    input: Input,
  ) => Mishap | AwsRefusal | undefined;
}

export const startAws = ({ operations, others, faultOf }: AwsServices) => {
  const outputOf = (
    operation: string,
    input: Input,
    fault?: unknown,
  ): readonly [number, object] => {
    try {
      if (fault instanceof AwsRefusal) throw fault;
      const output = operations[operation]?.(input);
      if (output) return [200, output];
      throw new AwsRefusal('ValidationException');
    } catch (error) {
      const { status = 500, message } = error as AwsRefusal;
      return [status, message ? { __type: message } : {}];
    }
  };
  return startLoopback(async (request, text, response, body) => {
    const [, operation = ''] = String(request.headers['x-amz-target']).split('.');
    const input = operation && JSON.parse(text);
    const fault = faultOf(request, operation, input);
    if (typeof fault === 'string') await mishaps[fault](response);
    if (request.socket.destroyed || response.writableEnded) return;
    if (others && !operations[operation]) return others(request, response, body);

    const [status, output] = outputOf(operation, input, fault);
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' });
    return response.end(JSON.stringify(output));
  });
};

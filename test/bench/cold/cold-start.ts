import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import type { MailMessage } from '../../../lib/options/mails/hand-over.ts';

const invoke = fileURLToPath(new URL('invoke.ts', import.meta.url));

/** What a function did in a process that knew nothing of it. Times are milliseconds. */
export interface ColdStart {
  readonly import: number;
  readonly firstCall: number;
  /** Processor time of both, which does not depend on what else the machine does. */
  readonly processor: number;
  readonly answer: APIGatewayProxyStructuredResultV2;
  /** The parts of Node that the process has loaded. */
  readonly moduleLoadList: readonly string[];
}

export type Environment = Readonly<Record<string, string>>;

/** The credentials that {@link lambdaEnvironment} gives: no service here checks them. */
export const credentials = { accessKeyId: 'ASIAEXAMPLE', sessionToken: 'session-token-example' };

/** What Lambda sets for a function of a zip package, as far as the SDK looks at it. */
export const lambdaEnvironment: Environment = {
  AWS_LAMBDA_FUNCTION_NAME: 'cold-start',
  AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
  AWS_REGION: 'us-east-1',
  AWS_DEFAULT_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: credentials.accessKeyId,
  AWS_SECRET_ACCESS_KEY: 'secret-access-key-example',
  AWS_SESSION_TOKEN: credentials.sessionToken,
  TZ: ':UTC',
};

/** Loads a bundle in a fresh process, with nothing in its environment but what is given. */
export const coldStart = async (
  file: string,
  event: APIGatewayProxyEventV2 | MailMessage,
  environment: Environment,
): Promise<ColdStart> => {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [invoke, file, JSON.stringify(event)],
    { env: { ...lambdaEnvironment, ...environment }, timeout: 150_000 },
  );
  return JSON.parse(stdout);
};

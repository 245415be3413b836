import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import type { MailMessage } from '../../../lib/options/mails/hand-over.ts';

const invoke = fileURLToPath(new URL('invoke.ts', import.meta.url));

/** The start of a function in a new process. Times are milliseconds. */
export interface ColdStart {
  readonly import: number;
  readonly firstCall: number;
  /** Processor time of loading and the first call, which does not depend on other work of the machine. */
  readonly processor: number;
  readonly answer: APIGatewayProxyStructuredResultV2;
  /** The parts of Node that the process has loaded. */
  readonly moduleLoadList: readonly string[];
}

export type Environment = Readonly<Record<string, string>>;

/** The credentials in {@link lambdaEnvironment}: no service here checks them. */
export const credentials = { accessKeyId: 'ASIAEXAMPLE', sessionToken: 'session-token-example' };

/** The variables that Lambda sets for a function of a zip package, if the SDK reads them. */
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

/** Loads a bundle in a new process, whose environment has only the given variables. */
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

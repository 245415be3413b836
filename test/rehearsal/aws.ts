/** Calls AWS, or the emulator, by the library that the AWS command line uses. */
import { createInterface } from 'node:readline';
import { start } from './command.ts';
import { pythonProgram } from './python.ts';
import { saw } from './step.ts';

/**
 * Calls an operation, with the names and the input of the AWS command line: `dynamodb`, `describe_table`, `{ TableName
 * }`. Lists have the items of all pages. A value `{ $zip: { name: text } }` becomes an archive.
 * @throws {AwsError}
 */
export type Call = (
  service: string,
  operation: string,
  input?: object,
  // biome-ignore lint/suspicious/noExplicitAny: what AWS responds
) => Promise<any>;

/** AWS has refused a call, or could not be reached; the name is the code of the error. */
export class AwsError extends Error {
  constructor(code: string, message: string) {
    super(message);
    this.name = code;
  }
}

type Env = Readonly<Record<string, string | undefined>>;

/** A process that calls AWS with the credentials of an environment, started by the first call. */
export const awsClient = (env: Env): Call => {
  let send: ((line: string) => Promise<string>) | undefined;
  return async (service, operation, input = {}) => {
    send ??= startClient(env);
    const answer = JSON.parse(await send(JSON.stringify([service, operation, input])));
    if (answer.requestId) saw(answer.requestId);
    if (!answer.error) return answer.response;
    throw new AwsError(answer.error, `${service} ${operation}: ${answer.message}`);
  };
};

const startClient = (env: Env) => {
  const child = start(pythonProgram('python'), ['test/rehearsal/aws.py'], env);
  const waiting: ((line: string) => void)[] = [];
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  lines.on('line', (line) => waiting.shift()?.(line));
  lines.on('close', () => {
    const answer = { error: 'Ended', message: 'The client of AWS has ended' };
    for (const each of waiting.splice(0)) each(JSON.stringify(answer));
  });
  child.stdin?.on('error', () => undefined);
  child.stderr?.resume();
  return (line: string): Promise<string> =>
    new Promise((resolve) => {
      waiting.push(resolve);
      child.stdin?.write(`${line}\n`);
    });
};

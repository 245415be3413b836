import { afterAll, type MockInstance, vi } from 'vitest';
import type { Handler } from '../../lib/http/request.ts';
import { lambdaEnvironment } from '../bench/cold/cold-start.ts';
import { gatewayEvent } from '../support/event.ts';
import type { TestService } from '../support/service.ts';

/**
 * Makes functions in this process use the tables of a service, with settings with which a service refuses to start: a
 * function in AWS detects such settings only when it needs them.
 * @returns the log of the functions, until the end of the file
 */
export const stubSettings = (
  { environment }: TestService,
  changes: Readonly<Record<string, string>>,
): MockInstance<typeof console.error> => {
  const settings = { ...lambdaEnvironment, ...environment, ...changes };
  for (const [name, value] of Object.entries(settings)) vi.stubEnv(name, value);
  const logged = vi.spyOn(console, 'error').mockReturnValue();
  afterAll(() => {
    vi.unstubAllEnvs();
    logged.mockRestore();
  });
  return logged;
};

interface Invocation extends Omit<NonNullable<Parameters<typeof gatewayEvent>[0]>, 'body'> {
  readonly json?: object | undefined;
}

/** Status and body of a function's response. */
export const invoke = async (
  handler: Handler,
  { json, headers = {}, ...fields }: Invocation,
): Promise<readonly [number | undefined, unknown]> => {
  const body = json && { body: JSON.stringify(json) };
  const event = { headers: { 'content-type': 'application/json', ...headers }, ...body, ...fields };
  const answer = await handler(gatewayEvent(event), {});
  return [answer.statusCode, JSON.parse(answer.body ?? '')];
};

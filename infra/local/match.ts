/** Which handler a request is for. */
import type { Handler } from '../../lib/http/request.ts';
import type { Route } from '../routes.ts';
import { GatewayAnswer } from './answer.ts';

export interface Integration {
  readonly route: Route;
  readonly handler: Handler;
}

/** @throws {GatewayAnswer} 400 when the path cannot be decoded */
export const splitTarget = (target: string): { path: string; query: string } => {
  const at = target.indexOf('?');
  const [path, query] = at < 0 ? [target, ''] : [target.slice(0, at), target.slice(at + 1)];
  try {
    return { path: decodeURIComponent(path), query };
  } catch {
    throw new GatewayAnswer(400, 'Bad Request');
  }
};

/** The path parameters of a path that a route's path matches, or undefined. */
const matchPath = (pattern: string, target: string): Record<string, string> | undefined => {
  const [wanted, given] = [pattern.split('/'), target.split('/')];
  if (wanted.length !== given.length) return undefined;
  const parameters: Record<string, string> = {};
  for (const [i, segment] of wanted.entries()) {
    const value = decodeURIComponent(given[i] ?? '');
    const name = /^\{(\w+)\}$/.exec(segment)?.[1];
    if (name && value) parameters[name] = value;
    else if (segment !== value) return undefined;
  }
  return parameters;
};

/** @throws {GatewayAnswer} 404 */
export const findIntegration = (
  integrations: readonly Integration[],
  method: string | undefined,
  target: string,
) => {
  const [undecodedPath = ''] = target.split('?');
  for (const integration of integrations) {
    if (integration.route.method !== method) continue;
    const pathParameters = matchPath(integration.route.path, undecodedPath);
    if (pathParameters) return { ...integration, pathParameters };
  }
  throw new GatewayAnswer(404, 'Not Found');
};

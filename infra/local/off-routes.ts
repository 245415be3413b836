/** Explains routes that the settings turn off: a client gets a 404 as for an unknown route, and the output says why. */
import type { IncomingMessage } from 'node:http';
import { variableOf } from '../../lib/ground/setting.ts';
import type { ServiceValues } from '../../lib/ground/settings.ts';
import { routesOff } from '../uses.ts';
import { matchPath } from './gateway.ts';

/**
 * @returns a function that is called with each request and its response. When a request for a route that is off gets a
 *   404 for the first time, it prints a line.
 */
export function explainer(settings: ServiceValues) {
  const untold = new Set(routesOff(settings));
  return (
    { method, url = '' }: IncomingMessage,
    { statusCode }: { statusCode?: number | undefined },
  ): void => {
    if (statusCode !== 404) return;
    const [path = ''] = url.split('?');
    const found = [...untold].find(
      ({ route }) => route.method === method && matchPath(route.path, path),
    );
    if (!found) return;
    untold.delete(found);
    const variables = found.settings.map(variableOf).join(' and ');
    console.error(`${found.route.key} is off: see ${variables} in infra/settings.md.`);
  };
}

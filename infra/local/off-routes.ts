/** Routes that the settings turn off: to a client they are 404 as any other, and the output says why. */
import type { IncomingMessage } from 'node:http';
import { variableOf } from '../../lib/ground/setting.ts';
import type { ServiceValues } from '../../lib/ground/settings.ts';
import { routesOff } from '../uses.ts';
import { matchPath } from './gateway.ts';

/**
 * @returns a function that is called with each request and its response. The first time that a request for a route
 *   which is off is 404, it prints a line.
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

/** The functions with all handlers, their routes and permissions. The stack, the local service and the tests read them. */

import { endpoints } from '../functions/contracts.ts';
import {
  type Endpoint,
  type HttpMethod,
  inForce,
  isPublic,
  takesSource,
} from '../lib/contract/contract.ts';
import { type ServiceValues, sendsMail } from '../lib/ground/settings.ts';
import { usesOf } from './handler-uses.ts';
import {
  type Condition,
  callers,
  permissionsOf,
  type SomeUses,
  type TablePermission,
  type Use,
  type UsePermission,
} from './permissions.ts';

export interface Route {
  /** API Gateway's name of the route: `METHOD /path`. */
  readonly key: string;
  readonly method: HttpMethod;
  /** In API Gateway's form: a segment in braces is a path parameter. */
  readonly path: string;
}

export interface FunctionDefinition {
  readonly name: string;
  /** The file that exports `handler`. */
  readonly entry: `functions/${string}.ts`;
  /** Empty for a function that runs in the background. */
  readonly routes: readonly Route[];
  readonly uses: ReadonlySet<Use>;
  /** The permissions that its uses require, one for each action on a resource. */
  readonly permissions: readonly TablePermission[];
}

/** The function that runs on a schedule if the audit trail is sealed. */
export const auditSealer = functionOf('background/seal-audit');

/** The function that receives the records of the audit table's stream if events are on. */
export const auditPublisher = functionOf('background/publish-audit');

const files = Object.keys(usesOf);

export const functions: readonly FunctionDefinition[] = files
  .map((file) => functionOf(file))
  .filter(({ name }) => name !== auditSealer.name && name !== auditPublisher.name);

/** The routes that the settings turn off, each with the names of the settings that decide it. */
export function routesOff(settings: ServiceValues) {
  return endpoints.flatMap(({ contract: { route, exists } }) => {
    const read = new Set<string>();
    const observed = new Proxy(settings, {
      get: (all, name) => {
        read.add(String(name));
        return Reflect.get(all, name);
      },
    });
    return !exists || exists(observed) ? [] : [{ route: routeOf(route), settings: [...read] }];
  });
}

export function mailFunction(settings: ServiceValues): FunctionDefinition | undefined {
  return functionsInForce(settings).find(({ uses }) => uses.has('mail.send'));
}

/** The functions that the settings turn on, each with the routes and permissions that it has under these settings. */
export function functionsInForce(settings: ServiceValues): readonly FunctionDefinition[] {
  return files
    .map((file) => functionOf(file, settings))
    .filter(({ routes, uses }) =>
      uses.has('mail.send') ? sendsMail(settings) : routes.length > 0,
    );
}

/** @param settings absent: the function has the routes, uses and permissions of all settings */
function functionOf(file: string, settings?: ServiceValues): FunctionDefinition {
  const own = (settings ? inForce(endpoints, settings) : endpoints).filter(handles(file));
  const isInForce = ({ isNeeded }: { readonly isNeeded?: Condition }) =>
    !settings || !isNeeded || isNeeded(settings);
  const uses = [
    ...(own.some(({ contract }) => !isPublic(contract.may) || contract.takesToken) ? callers : []),
    ...(own.some(hasMachine) ? (['machine'] as const) : []),
    ...(usesOf[file] ?? []),
  ].flatMap((use: Use | SomeUses) =>
    typeof use === 'string' ? use : isInForce(use) ? use.uses : [],
  );
  return {
    name: file.replace(/^background\/|\/index$/g, '').replace('/', '-'),
    entry: `functions/${file}.ts`,
    routes: own.map(({ contract: { route } }) => routeOf(route)),
    uses: new Set(uses),
    permissions: merge(
      uses
        .flatMap((use): readonly UsePermission[] => permissionsOf[use])
        .filter(isInForce)
        .map(({ isNeeded: _, ...permission }) => permission),
    ),
  };
}

/** Whether a file has the handler of an endpoint; `index.ts` has the handlers of its whole folder. */
function handles(file: string) {
  return (endpoint: Endpoint) =>
    endpoint.file === file || endpoint.file.replace(/\/.*/, '/index') === file;
}

/** Whether a machine may call an endpoint, or vouch for the source of a request to it. */
function hasMachine(endpoint: Endpoint) {
  return !isPublic(endpoint.contract.may) || takesSource(endpoint.contract);
}

function routeOf(key: string): Route {
  const [method, path] = key.split(' ') as [HttpMethod, string];
  return { key, method, path };
}

/**
 * Merges permissions for the same action on the same resource into one permission with all their keys: two separate
 * permissions would not allow a request that names keys of both, as BatchGetItem does.
 */
function merge(permissions: readonly TablePermission[]): readonly TablePermission[] {
  return [...Map.groupBy(permissions, ({ keys, ...on }) => JSON.stringify(on)).values()].map(
    (same) => ({
      ...(same[0] as TablePermission),
      ...(same.every(({ keys }) => keys) && {
        keys: [...new Set(same.flatMap(({ keys = [] }) => keys))],
      }),
    }),
  );
}

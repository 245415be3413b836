/** The requests that show whether a deployment works, and the responses that the contract requires. */
import { randomUUID } from 'node:crypto';
import { decodeJwt } from 'jose';
import { endpoints } from '../../functions/contracts.ts';
import {
  type Contract,
  type Endpoint,
  inForce,
  isPublic,
  type Success,
  takesSource,
} from '../../lib/contract/contract.ts';
import { type ErrorCode, errorCodes, httpErrors } from '../../lib/ground/errors.ts';
import { hasMachines, type ServiceValues } from '../../lib/ground/settings.ts';
import { makeKey } from '../../lib/options/machines/key.ts';

/** A request, and the right responses. */
export interface Probe {
  /** The route, and how it is requested: `GET /api/profile without a token`. */
  readonly title: string;
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The right successful response; absent: only errors are right. */
  readonly success?: Success;
  /** The codes of the right errors. */
  readonly errors: readonly ErrorCode[];
  /** Whether the request is sent only once, whatever the response is. */
  readonly isOnce?: true;
}

/**
 * Requests that change nothing, for all routes that given settings turn on.
 * @param token the token of a caller, which is sent with each GET that requires a token; absent: for these routes, only
 *   refusals are tried
 */
export function probesOf(settings: ServiceValues, token: string | undefined): readonly Probe[] {
  const available = inForce(endpoints, settings);
  return [
    ...available.flatMap((endpoint) =>
      isProtected(endpoint.contract)
        ? refusals(endpoint, settings)
        : publicProbe(endpoint, settings),
    ),
    ...(hasMachines(settings) ? available.flatMap(forgedKey) : []),
    login(),
    ...(token ? available.flatMap((each) => reading(each, settings, token)) : []),
  ];
}

/** The routes whose handlers respond before they read anything, unless the caller has a token. */
export function routesBehindTokens(settings: ServiceValues): readonly string[] {
  const behind = inForce(endpoints, settings).filter(({ contract }) => isProtected(contract));
  return behind.map(({ contract }) => contract.route);
}

/** The id of the user to whom a token belongs; undefined for a text that is not a token. */
export function userOf(token: string): string | undefined {
  try {
    return String(decodeJwt(token).id);
  } catch {
    return undefined;
  }
}

function isProtected({ may }: Contract) {
  return !isPublic(may);
}

/** A request without a token, and a request with a forged token, which a handler can refuse only with its keys. */
function refusals({ contract }: Endpoint, settings: ServiceValues): readonly Probe[] {
  const headers = bearer(forgedToken(settings));
  return [
    probe(contract, ' without a token', { errors: ['NO_TOKEN'] }),
    probe(contract, ' with a forged token', { headers, errors: ['TOKEN_INVALID'] }),
  ];
}

/**
 * A request for a route.
 * @param how completes the title, which begins with the route
 * @param parameter replaces every parameter in the path; by default it is a text that is the id of nothing
 */
function probe(
  { route }: Pick<Contract, 'route'>,
  how: string,
  rest: Omit<Probe, 'title' | 'method' | 'path'>,
  parameter = 'none',
): Probe {
  const [method = '', pattern = ''] = route.split(' ');
  const path = pattern.replaceAll(/\{[^}]+\}/g, parameter);
  return { title: route + how, method, path, ...rest };
}

function bearer(token: string) {
  return { authorization: `Bearer ${token}` };
}

/** A token in the right form, with a signature of zeros. */
function forgedToken({ tokenSigning: alg }: ServiceValues): string {
  const [header, claims] = [{ alg }, { id: 1 }].map((part) =>
    Buffer.from(JSON.stringify(part)).toString('base64url'),
  );
  const signature = Buffer.alloc(alg === 'RS256' ? 256 : 32).toString('base64url');
  return `${header}.${claims}.${signature}`;
}

const json = { 'content-type': 'application/json' } as const;

/**
 * Requests a public route: with an empty body if it takes a body, and for an unknown id or name if its path has one.
 */
function publicProbe({ contract, describe }: Endpoint, settings: ServiceValues): Probe {
  const isOfNothing = contract.route.includes('{');
  if (contract.body) {
    const errors = ofStatus(400, ...(isOfNothing ? [404] : []));
    return probe(contract, ' with an empty body', { headers: json, body: '{}', errors });
  }
  if (isOfNothing) return probe(contract, '', { errors: ofStatus(404) });
  return probe(contract, '', { success: describe(settings).success, errors: [] });
}

/** A request with a key of no machine, which the function of a route can refuse only if it can read machines. */
function forgedKey({ contract }: Endpoint): readonly Probe[] {
  const key = makeKey(Number.MAX_SAFE_INTEGER);
  if (isProtected(contract)) {
    const refused = { headers: bearer(key), errors: ['TOKEN_INVALID'] } as const;
    return [probe(contract, ' with a forged key', refused)];
  }
  if (!takesSource(contract)) return [];
  const headers = { 'machine-key': key, 'client-address': '192.0.2.1' };
  const errors = ['CLIENT_ADDRESS_INVALID'] as const;
  return [probe(contract, ' of a backend with a forged key', { headers, errors })];
}

function ofStatus(...statuses: readonly number[]) {
  return errorCodes.filter((code) => statuses.includes(httpErrors[code].status));
}

/** A login with an address that nobody has. It reads a table. */
function login(): Probe {
  const credentials = { email: `${randomUUID()}@example.invalid`, password: randomUUID() };
  return probe({ route: 'POST /api/login' }, ' of an address that nobody has', {
    headers: json,
    body: JSON.stringify(credentials),
    errors: ['USER_NOT_REGISTERED', 'INVALID_CREDENTIALS'],
    isOnce: true,
  });
}

/** A request that reads with a token; if the path names a user, this user is the caller. */
function reading({ contract, describe }: Endpoint, settings: ServiceValues, token: string) {
  if (!isProtected(contract) || !contract.route.startsWith('GET ')) return [];
  const { success } = describe(settings);
  const errors = [...ofStatus(404), 'FORBIDDEN', 'SECOND_FACTOR_REQUIRED'] as const;
  const rest = { headers: bearer(token), success, errors };
  return [probe(contract, ' with ACCOUNTS_TOKEN', rest, userOf(token))];
}

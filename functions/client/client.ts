import { type Api, apiOf } from './api.ts';
import { type Calls, callsOf } from './calls.ts';
import { exchange } from './exchange.ts';
import { type Fetch, fetchWithToken, targetOf, type Way } from './fetch.ts';
import { exclusiveBy } from './lock.ts';
import { originOf, place } from './place.ts';
import { defaultStorage, endedMark, keptIn, type TokenStorage } from './storage.ts';
import {
  beginReading,
  beginSession,
  freshSession,
  type Keeper,
  leftOf,
  readSession,
} from './tokens.ts';
import { readToken, type Tokens, type User } from './user.ts';
import { type Listener, subscribe, watchedUser } from './watch.ts';

export interface ClientOptions {
  /** The address of the service, such as `https://accounts.example.com`. */
  readonly url: string;
  /** Where the tokens are kept; by default in `localStorage` if there is a `document`, or else in memory. */
  readonly storage?: TokenStorage | undefined;
  /** Distinguishes several apps of one origin, so that each has its own tokens; by default the `url`. */
  readonly name?: string | undefined;
  /** The origins to which `fetch` sends the token, besides the service's and the page's own. */
  readonly sendTo?: readonly string[] | undefined;
  readonly fetch?: Fetch | undefined;
}

/** @template Declared the attributes that tokens have as claims, by their names */
export interface Accounts<Declared extends object = object> extends Calls<Declared> {
  /** Who is signed in, as the token says; null: nobody; undefined: not read yet, see `ready`. */
  readonly user: User<Declared> | null | undefined;
  readonly ready: Promise<void>;
  /** Calls the listener at once, or when `user` is read, and after every change. @returns a function that removes it */
  onChange(listener: Listener<Declared>): () => void;
  /** Calls the listener after every change: for `useSyncExternalStore`, with `getSnapshot`. */
  subscribe(listener: Listener<Declared>): () => void;
  getSnapshot(): User<Declared> | null | undefined;
  /** `fetch` that adds the token if the request goes to an allowed origin. It resolves and rejects as `fetch` does. */
  readonly fetch: Fetch;
  /**
   * A token that is valid; null: nobody is signed in, or no valid token can be obtained now.
   * @param options `renew`: a new token with the present claims, unless the service issues none
   */
  getToken(options?: { readonly renew?: boolean }): Promise<string | null>;
  /** Signs in with tokens that were obtained elsewhere. @throws {TypeError} if they are not tokens of the service */
  setSession(tokens: Tokens): Promise<User<Declared>>;
  /** All operations by their paths. */
  readonly api: Api;
}

/** @throws {TypeError} for a `url` that is not of http or https */
export function createClient<Declared extends object = object>(
  options: ClientOptions,
): Accounts<Declared> {
  const way = wayOf(options);
  const { keeper } = way;
  const { watched } = keeper;
  const api = apiOf(way);
  const accounts: Accounts = {
    ...callsOf(api, way),
    api,
    fetch: fetchWithToken(way, options.sendTo ?? []),
    ready: beginReading(keeper),
    get user() {
      return watched.user;
    },
    getSnapshot: () => watched.user,
    subscribe: (listener) => subscribe(watched, listener),
    onChange(listener) {
      if (watched.user !== undefined) listener(watched.user, 'read');
      return subscribe(watched, listener);
    },
    async getToken({ renew } = {}) {
      const session = await freshSession(keeper, renew).catch(() => null);
      return session && leftOf(session) > 0 ? session.token : null;
    },
    async setSession(tokens) {
      const { issued, ends } = readToken(tokens.token);
      const isOfNow = issued <= Date.now() && Date.now() < ends;
      return beginSession(keeper, tokens, isOfNow ? 0 : undefined);
    },
  };
  return accounts as unknown as Accounts<Declared>;
}

function wayOf({ storage, name, ...options }: ClientOptions): Way {
  const { url: base, fetch } = targetOf(options);
  const service = originOf(base);
  if (!service)
    throw new TypeError(`The url of the service is of http or https, not ${options.url}`);
  const key = `accounts-client.${name ?? base}`;
  const isShared = storage ?? place.document;
  const keeper: Keeper = {
    kept: keptIn(storage ?? defaultStorage(), key),
    exclusive: exclusiveBy(isShared ? `${key}.${storage ? 'own' : 'page'}` : undefined),
    watched: watchedUser(),
    exchange: (refreshToken, signal) => exchange({ fetch, base }, refreshToken, signal),
    changes: 0,
  };
  if (place.document) listenToPage(keeper, key);
  return { keeper, fetch, base, service };
}

/** Reads the storage when another tab has changed it, and when the page becomes visible again. */
function listenToPage(keeper: Keeper, key: string): void {
  place.addEventListener('storage', (event) => {
    const isOwn = event.key === key || event.key === null;
    if (isOwn) void readSession(keeper, event.newValue === endedMark ? 'ended' : undefined);
  });
  place.document?.addEventListener('visibilitychange', () => {
    const isSeen = place.document?.visibilityState === 'visible';
    if (isSeen) void freshSession(keeper).catch(() => undefined);
  });
}

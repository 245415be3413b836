/**
 * The cookies in which the server of an app keeps the tokens of a browser (functions/client/README.md, Pages that a
 * server renders). Each pair of tokens has a cookie of its own, whose name ends with the second in which the pair was
 * issued: a response that arrives late replaces no newer pair, and if there are several pairs the newest counts.
 */
import { readToken, type Tokens } from './user.ts';

export interface Naming {
  readonly prefix: string;
  readonly attributes: string;
}

export interface Cookies {
  /** The names of the cookies which browsers keep: pairs of tokens, and the mark of a request to be sent again. */
  readonly names: readonly string[];
  /** The newest pair. */
  readonly tokens?: Tokens;
  /** The pair that has replaced the newest pair, if the tokens were refreshed for this request. */
  readonly next?: Tokens;
  /** Whether the browser was told a moment ago to send its request again. */
  readonly isSentAgain: boolean;
  /** The name of the cookie that marks a logout; the next login deletes the cookie. */
  readonly mark?: string;
}

/**
 * The names of an app's cookies. On http://localhost alone they have neither the prefix `__Host-` nor the attribute
 * `Secure`, which Safari refuses there.
 * @param origin as browsers write it: `https://app.example.com`
 * @throws {TypeError} for an origin that cannot have such cookies, and for a name that a cookie cannot have
 */
export function namingOf(origin: string, name: string): Naming {
  const { protocol, hostname, origin: written } = new URL(origin);
  const isLocal = protocol === 'http:' && hostname === 'localhost';
  if (written !== origin || !(isLocal || protocol === 'https:')) {
    throw new TypeError(`origin must be https://HOST or http://localhost:PORT, and is ${origin}`);
  }
  if (!/^[\w-]+$/.test(name)) throw new TypeError(`name must be a word, and is ${name}`);
  const attributes = 'Path=/; HttpOnly; SameSite=Lax';
  return isLocal
    ? { prefix: `${name}-`, attributes }
    : { prefix: `__Host-${name}-`, attributes: `${attributes}; Secure` };
}

/** Reads the cookies of a request; values that cannot be tokens are ignored. */
export function cookiesIn(headers: Headers, { prefix }: Naming): Cookies {
  const held = pairsIn(headers).filter(([name]) => name.startsWith(prefix));
  const values = new Map(held.map(([name, value]) => [name.slice(prefix.length), value]));
  const seconds = [...values.keys()].filter((name) => /^\d{1,15}$/.test(name));
  const isSentAgain = values.has(again);
  // A mark that was not set by a logout of this app does not count, and the next login deletes it.
  const marked = values.get(out);
  const loggedOut = /^\d{1,15}$/.test(marked ?? '') ? Number(marked) : 0;
  const pairs = seconds
    .filter((name) => Number(name) > loggedOut)
    .sort((a, b) => Number(b) - Number(a))
    .flatMap((name) => tokensIn(values.get(name)));
  return {
    names: [...seconds, ...(isSentAgain ? [again] : [])].map((name) => prefix + name),
    ...(pairs[0] && { tokens: pairs[0] }),
    ...Object.fromEntries(tokensIn(values.get(next)).map((tokens) => ['next', tokens])),
    isSentAgain,
    ...(marked !== undefined && { mark: prefix + out }),
  };
}

export function nameOf({ token }: Tokens, { prefix }: Naming): string {
  return prefix + readToken(token).issued / 1000;
}

/**
 * A `Set-Cookie` that keeps a pair for 400 days, the longest time for which browsers keep a cookie.
 * @throws {RangeError} for a pair that is too long for a cookie
 */
export function pairKept(tokens: Tokens, naming: Naming): string {
  const [name, value] = [nameOf(tokens, naming), textOf(tokens)];
  const bytes = name.length + value.length;
  if (bytes > maxBytes) {
    const limit = `browsers keep at most ${maxBytes}`;
    throw new RangeError(
      `The tokens with the name of their cookie have ${bytes} bytes, and ${limit}`,
    );
  }
  return `${name}=${value}; ${naming.attributes}; Max-Age=${400 * 24 * 60 * 60}`;
}

export function deleted(name: string, { attributes }: Naming): string {
  return `${name}=; ${attributes}; Max-Age=0`;
}

/** A short-lived `Set-Cookie` that marks a request which the browser sends again. */
export function sentAgain({ prefix, attributes }: Naming): string {
  return `${prefix}${again}=1; ${attributes}; Max-Age=30`;
}

/**
 * A `Set-Cookie` that marks a logout for ten minutes. Pairs that were issued before the logout do not count: the
 * response to an earlier request may bring new tokens after it.
 */
export function loggedOut({ prefix, attributes }: Naming): string {
  return `${prefix}${out}=${Math.ceil(Date.now() / 1000)}; ${attributes}; Max-Age=600`;
}

/**
 * The headers of a request that is passed on to another part of the app.
 * @param following the pair that replaces the request's pair; null: the request is passed on without tokens; undefined:
 *   as it is
 */
export function headersWith(
  following: Tokens | null | undefined,
  headers: Headers,
  { prefix }: Naming,
): Headers {
  if (following === undefined) return headers;
  const copy = new Headers(headers);
  const others = pairsIn(headers).filter(([name]) => following || !name.startsWith(prefix));
  const all = following ? [...others, [prefix + next, textOf(following)]] : others;
  copy.set('cookie', all.map((pair) => pair.join('=')).join('; '));
  return copy;
}

/** The most bytes that the name and the value of a cookie may have together (RFC 6265bis, section 5.7). */
const maxBytes = 4096;

// The endings of cookie names, except for the cookies of pairs that the browser keeps.
const next = 'next';
const again = 'again';
const out = 'out';

const separator = '~';

function pairsIn(headers: Headers): readonly (readonly [string, string])[] {
  return (headers.get('cookie') ?? '').split(';').map((text) => {
    const [, name = '', value = ''] = /^\s*([^=]*)=?(.*?)\s*$/s.exec(text) ?? [];
    return [name, value] as const;
  });
}

/** The tokens in a cookie. A value in another form gives no tokens, because it might not be valid in a header. */
function tokensIn(value = ''): readonly Tokens[] {
  const [token = '', refreshToken] = value.split(separator, 2);
  if (!/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)) return [];
  try {
    readToken(token);
  } catch {
    return [];
  }
  return [refreshToken && /^[\w.-]+$/.test(refreshToken) ? { token, refreshToken } : { token }];
}

function textOf({ token, refreshToken }: Tokens): string {
  return refreshToken ? token + separator + refreshToken : token;
}

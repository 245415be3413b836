/** The globals of the platform where the client runs. A server, a worker or React Native has only some of them. */

interface WebStorage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

interface Place {
  readonly document?: {
    readonly baseURI: string;
    readonly visibilityState: string;
    addEventListener(type: 'visibilitychange', listen: () => void): void;
  };
  readonly location?: Readonly<Record<'href' | 'hash' | 'pathname' | 'search', string>>;
  readonly history?: { readonly state: unknown; replaceState(...to: unknown[]): void };
  readonly navigator?: {
    readonly locks?: {
      request<T>(
        name: string,
        options: { readonly signal: AbortSignal },
        work: () => Promise<T>,
      ): Promise<T>;
    };
  };
  /** Reading either storage may throw if the user forbids storage. */
  readonly localStorage: WebStorage;
  readonly sessionStorage: WebStorage;
  addEventListener(
    type: 'storage',
    listen: (event: { readonly key: string | null; readonly newValue: string | null }) => void,
  ): void;
}

export const place = globalThis as unknown as Place;

/**
 * The origin of an absolute URL of http or https, in lower case and without a default port. Relative and oddly
 * written URLs are resolved in pages only, because the `URL` of React Native is not reliable.
 * @returns undefined for any other text, to which no token is sent
 */
export function originOf(url: string): string | undefined {
  const base = place.document?.baseURI ?? place.location?.href;
  const [, scheme, host, port] = absolute.exec(base ? resolved(url, base) : url) ?? [];
  if (!scheme || !host) return undefined;
  const isDefault = !port || port === (scheme.toLowerCase() === 'https' ? '443' : '80');
  return `${scheme}://${host}${isDefault ? '' : `:${port}`}`.toLowerCase();
}

/** Matches no URL with a user name, or with a backslash or a space in the host: parsers disagree on such URLs. */
const absolute = /^(https?):\/\/([^\s/?#\\@:[\]]+|\[[\da-f:.]+\])(?::(\d+))?(?=[/?#]|$)/i;

function resolved(url: string, base: string): string {
  try {
    return new URL(url, base).href;
  } catch {
    return url;
  }
}

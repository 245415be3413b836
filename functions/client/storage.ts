import { place } from './place.ts';

/** A storage for texts, synchronous or asynchronous. On a server each request needs a client with its own storage. */
export interface TokenStorage {
  get(key: string): string | null | undefined | Promise<string | null | undefined>;
  set(key: string, value: string): unknown;
  remove(key: string): unknown;
}

/** The text that is stored for a moment when the service has ended a session, before the storage is emptied. */
export const endedMark = 'ended';

/** `localStorage`, which tabs share; `sessionStorage` for tokens without a refresh token. */
const pageStorage: TokenStorage = {
  get: (key) =>
    place.localStorage.getItem(key) ?? place.sessionStorage.getItem(key) ?? takeOver(key),
  set(key, value) {
    const isShared = value.includes('"refreshToken"') || value === endedMark;
    const { localStorage, sessionStorage } = place;
    const [to, from] = isShared ? [localStorage, sessionStorage] : [sessionStorage, localStorage];
    to.setItem(key, value);
    from.removeItem(key);
  },
  remove(key) {
    place.localStorage.removeItem(key);
    place.sessionStorage.removeItem(key);
  },
};

export function defaultStorage(): TokenStorage {
  return place.document ? pageStorage : memoryStorage();
}

/** One text in a storage. */
export interface Kept {
  get(): string | null | Promise<string | null>;
  set(value: string): Promise<void>;
  remove(): Promise<void>;
}

/** A text that is also kept in memory, in case the storage throws or is full. */
export function keptIn(storage: TokenStorage, key: string): Kept {
  let last: string | null = null;
  let isOnlyHere = false;
  const noted = (found: string | null | undefined) => {
    last = found ?? null;
    return last;
  };
  const change = async (value: string | null, ...attempts: (() => unknown)[]) => {
    last = value;
    for (const attempt of attempts) {
      try {
        await attempt();
        isOnlyHere = false;
        return;
      } catch {
        isOnlyHere = true;
      }
    }
  };
  return {
    get() {
      if (isOnlyHere) return last;
      try {
        const found = storage.get(key);
        if (!found || typeof found === 'string') return noted(found);
        return found.then(noted, () => last);
      } catch {
        return last;
      }
    },
    set: (value) =>
      change(
        value,
        () => storage.set(key, value),
        async () => {
          // An older refresh token must not stay in the storage, because its next use would end the session.
          await storage.remove(key);
          await storage.set(key, value);
        },
      ),
    remove: () => change(null, () => storage.remove(key)),
  };
}

/** Moves the tokens that an app has stored with the code of functions/CLIENTS.md, before it used this client. */
function takeOver(key: string): string | null {
  const { localStorage } = place;
  const tokens = localStorage.getItem('tokens');
  if (!tokens || !/^\{.*"token":"[\w-]+\.[\w-]+\.[\w-]+"/.test(tokens)) return null;
  localStorage.setItem(key, tokens);
  localStorage.removeItem('tokens');
  return tokens;
}

function memoryStorage(): TokenStorage {
  const kept = new Map<string, string>();
  return {
    get: (key) => kept.get(key),
    set: (key, value) => kept.set(key, value),
    remove: (key) => kept.delete(key),
  };
}

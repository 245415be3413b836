/**
 * The screen of the console is in the fragment of the address, so that a link shows the same to a
 * colleague, and no server or log gets it: `/console#/audit?action=LOGIN`.
 */
import { createStore } from './store.ts';

/** The values of a query. Those that are undefined or empty are left out. */
export type Query = Readonly<Record<string, string | number | undefined>>;

interface Place {
  /** Such as `/users/17`. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
}

const readPlace = (): Place => {
  const [path = '', query = ''] = location.hash.slice(1).split('?');
  return { path: path || '/overview', query: Object.fromEntries(new URLSearchParams(query)) };
};

export const place = createStore(readPlace());

/**
 * Its path alone. What draws screens must not be drawn again when only the query changes: Preact
 * would keep a copy of the screen as it was, with all its elements.
 */
export const path = createStore(place.get().path);

let pathBefore = '';

addEventListener('hashchange', () => {
  pathBefore = path.get();
  place.set(readPlace());
  path.set(place.get().path);
});

export const href = (path: string, query: Query = {}): string => {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return `#${path}${text ? `?${text}` : ''}`;
};

/** Goes to another place, which the browser's button Back leaves again. */
export const go = (path: string, query: Query = {}): void => {
  location.hash = href(path, query);
};

/** Goes back to a place as it was left, if that was shown last, and otherwise to it anew. */
export const goBackTo = (to: string): void => (pathBefore === to ? history.back() : go(to));

/** Changes the query of the place without a step that Back would undo. */
export const changeQuery = (changes: Query): void => {
  const { query } = place.get();
  history.replaceState(null, '', href(path.get(), { ...query, ...changes }));
  place.set(readPlace());
};

/**
 * The screen of the console is in the fragment of the address, so that a link shows the same to a
 * colleague, and no server or log gets it: `/console#/audit?action=LOGIN`.
 */
import { mayLeave } from './leaving.ts';
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

/** How many places before this one the console has shown, kept in each step of the browser's history. */
let step = 0;

/** Whether the next change of place is the console's own, about which nobody is asked. */
let isOwn = false;

/** Whether the next change of place leads back to the one that is not left. */
let isReturn = false;

const keepStep = (): void => history.replaceState({ ...history.state, step }, '');

step = history.state?.step ?? 0;
keepStep();

addEventListener('hashchange', (event) => {
  // A place that was gone to by a link is the next one.
  const to = history.state?.step ?? step + 1;
  if (isReturn || !(isOwn || mayLeave())) {
    event.stopImmediatePropagation();
    isReturn = !isReturn;
    if (isReturn) history.go(step - to || -1);
    return;
  }
  isOwn = false;
  step = to;
  keepStep();
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
  const to = href(path, query);
  if (to === location.hash) return;
  isOwn = true;
  location.hash = to;
};

/** Goes back to a place as it was left, if that was shown last, and otherwise to it anew. */
export const goBackTo = (to: string): void => (pathBefore === to ? goBack() : go(to));

const goBack = (): void => {
  isOwn = true;
  history.back();
};

/** Changes the query of the place without a step that Back would undo. */
export const changeQuery = (changes: Query): void => {
  const { query } = place.get();
  history.replaceState({ step }, '', href(path.get(), { ...query, ...changes }));
  place.set(readPlace());
};

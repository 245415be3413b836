/**
 * The fragment of the address names the screen of the console, so that a link shows a colleague the same screen,
 * and no server or log receives the fragment: `/console#/audit?action=LOGIN`.
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
 * The path alone. The component that draws screens must not be drawn again when only the query changes: Preact
 * would keep a copy of the old screen with all its elements.
 */
export const path = createStore(place.get().path);

let pathBefore = '';

/** How many places the console has shown before the present place, kept in each step of the browser's history. */
let step = 0;

/** Whether the console itself makes the next change of place, about which users are not asked. */
let isOwn = false;

/** Whether the next change of place leads back to the place that the user has decided not to leave. */
let isReturn = false;

const keepStep = (): void => history.replaceState({ ...history.state, step }, '');

step = history.state?.step ?? 0;
keepStep();

addEventListener('hashchange', (event) => {
  // A place without a step was reached by a link, which adds a step.
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

/** Goes to another place; the browser's button Back returns from there. */
export const go = (path: string, query: Query = {}): void => {
  const to = href(path, query);
  if (to === location.hash) return;
  isOwn = true;
  location.hash = to;
};

/** Goes back to a place as the user left it, if it was shown last; otherwise opens it anew. */
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

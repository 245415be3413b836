/**
 * The time by the clock of the service, as far as its responses tell it: the clock of this machine may
 * be hours wrong.
 */
const key = 'accounts-console-clock';

/** Milliseconds by which the clock of the service is ahead of the clock of this machine. */
let ahead = Number(sessionStorage.getItem(key));

/** Milliseconds since 1970. */
export const now = (): number => Date.now() + ahead;

export const setClock = ({ headers }: Response): void => {
  const time = Date.parse(headers.get('Date') ?? '');
  if (!Number.isNaN(time)) ahead = time - Date.now();
};

/** Keeps what was read for when the page is loaded again. */
export const keepClock = (): void => sessionStorage.setItem(key, String(ahead));

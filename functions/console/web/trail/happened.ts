/** The event of an entry, in a few words (functions/README.md, What is audited). */
import type { AuditEntry } from '../../../client/paths.ts';
import { exactTime } from '../format.ts';

type Details = Readonly<Record<string, unknown>>;

/** An object with a `toString` of its own cannot become text, so that its JSON stands for it. */
const writable = (name: string, value: unknown): unknown =>
  name !== '' && Object.hasOwn(Object(value), 'toString') ? JSON.stringify(value) : value;

/** The details of an entry, if they are an object. Machines, and whoever writes to the table, choose what is in them. */
export const detailsOf = ({ details }: Pick<AuditEntry, 'details'>): Details => {
  try {
    return Object(JSON.parse(details ?? '{}', writable));
  } catch {
    return {};
  }
};

/** Whether a resource is of another service, whose entries machines post: only such resources have a dot. */
export const isPosted = ({ resource }: { readonly resource?: unknown }): boolean =>
  typeof resource === 'string' && resource.includes('.');

/** The longest value, in characters: the dialog of the entry shows longer values in full. */
const longest = 40;

const shorten = (text: string): string =>
  text.length > longest ? `${text.slice(0, longest).toWellFormed()}…` : text;

/** Characters that change the direction of the text behind them. */
const directions = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** A value, in quotes unless it is a single plain word, because it may be text that somebody chose. */
const quoted = (value: unknown): string => {
  const isText = typeof value === 'string';
  const text = shorten(isText ? value : JSON.stringify(value));
  if (/^[\w.@:+…-]*$/.test(text)) return text;
  const escaped = (isText ? JSON.stringify(text) : text).replace(
    directions,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  // Isolated, so that text from right to left does not change places with its neighbours.
  return /^[ -~…]*$/.test(escaped) ? escaped : `\u2068${escaped}\u2069`;
};

const words = (name: string): string => name.replaceAll('_', ' ');

const scopes: Details = {
  all: 'all sessions',
  others: 'all other sessions',
  everyone: 'everybody',
};

const ways: Details = { reset: 'by reset link', verification: 'by mailed link' };

const isChange = (value: unknown): value is { from: unknown; to: unknown } =>
  Object(value).from !== undefined && Object(value).to !== undefined;

/** Whether a field is an attribute whose old and new values are in the details. */
const isToldOf = (name: string, { attributes }: Details): boolean =>
  name.startsWith('attributes.') &&
  Object.hasOwn(Object(attributes), name.slice('attributes.'.length));

/** The words for details, by their names; other details are written `name: value`. Empty: nothing is written. */
const sayings: Readonly<Record<string, (value: unknown, all: Details) => string>> = {
  fields: (names, all) =>
    [names]
      .flat()
      .map(String)
      .filter((name) => !(name in all) && !isToldOf(name, all))
      .map((name) => words(name.replace('attributes.', '')))
      .join(', '),
  attributes: (changes) =>
    Object.entries(Object(changes))
      .map(([name, change]) => {
        const { from, to } = Object(change);
        return `${words(name)}: ${quoted(from ?? 'unset')} → ${quoted(to ?? 'unset')}`;
      })
      .join(', '),
  by: (way, { requested }) =>
    requested === true ? 'reset link mailed' : String(ways[String(way)] ?? `by ${way}`),
  requested: (what) => (what === true ? '' : `${[what].flat().join(', ')} waits for a link`),
  reason: (reason) => words(String(reason)),
  waits_until: (at) => `a wait begins, until ${exactTime(String(at))}`,
  outcome: () => 'may have been done',
  scope: (scope) => String(scopes[String(scope)] ?? scope),
  session: () => 'one session',
  second_factor: (state) => `second factor ${state}`,
  invited: () => 'invited',
  suspended: (isSuspended) => (isSuspended ? 'suspended' : 'suspension lifted'),
  entries: (count) => (typeof count === 'number' ? `${count} entries` : ''),
  format: (format) => String(format),
  filter: (filter) =>
    Object.entries(Object(filter))
      .filter(([name]) => name !== 'order')
      .map(([name, value]) => `${name}=${quoted(value)}`)
      .join(' '),
};

const say = (name: string, value: unknown, all: Details): string => {
  // Attributes may have the names `from` and `to`.
  const said = Object.hasOwn(sayings, name) ? sayings[name]?.(value, all) : undefined;
  if (said !== undefined) return said;
  return tell(words(name), value);
};

const tell = (name: string, value: unknown): string =>
  isChange(value)
    ? `${name}: ${quoted(value.from)} → ${quoted(value.to)}`
    : `${name}: ${quoted(value)}`;

/** Such as `role: user → admin`, or `password, by reset link`. */
export const happened = (
  entry: Pick<AuditEntry, 'details'> & { readonly resource?: string },
): string => {
  const details = detailsOf(entry);
  return Object.entries(details)
    .map(([name, value]) =>
      // The words of the service are not for the details of others, whose names may be any text.
      isPosted(entry) ? tell(quoted(name), value) : say(name, value, details),
    )
    .filter((text) => text !== '')
    .join(', ');
};

/** The query of the audit trail in the forms of the address bar, the controls and the API. */
import type { AuditEntry, Operations } from '../../../client/paths.ts';
import { timeOf } from '../format.ts';

const names = [
  'userId',
  'action',
  'result',
  'resourceId',
  'about',
  'ipAddress',
  'from',
  'resource',
  'machineId',
  'reason',
  'only',
  'since',
  'until',
  'order',
  'follow',
  'group',
] as const;

/** The filters by which a group of entries is found, with their titles. */
export const groupings = {
  userId: 'Who',
  ipAddress: 'Source',
  action: 'Action',
  reason: 'Reason',
  resource: 'Resource',
  machineId: 'Machine',
} as const;
export type Grouping = keyof typeof groupings;

/** The value of a filter that finds entries without a value. */
export const none = 'none';

/** The state of the screen: all that is in the address bar. A value that is not set is empty. */
export type TrailState = Readonly<
  Record<'userId' | 'resourceId' | 'about' | 'ipAddress' | 'since' | 'until', string> & {
    readonly from: 'service' | 'machines' | '';
    readonly resource: string;
    readonly machineId: string;
    readonly reason: string;
    /** Whether, of the users who were created, only users who registered themselves are shown. */
    readonly only: 'registrations' | '';
    readonly action: AuditEntry['action'] | '';
    readonly result: AuditEntry['result'] | '';
    readonly order: 'asc' | '';
    readonly follow: 'on' | '';
    readonly group: Grouping | '';
  }
>;

type Given = Operations['GET /api/admin/audit-logs']['given'];
type Parameters = NonNullable<NonNullable<Given['params']>['query']>;

/** @param query of the address bar. The service says what is wrong with a value. */
export const readState = (query: Readonly<Record<string, string>>): TrailState => {
  const state = Object.fromEntries(names.map((name) => [name, query[name] ?? '']));
  if (state.only !== 'registrations') state.only = '';
  return withChanges(state as unknown as TrailState, {});
};

/**
 * While the trail is followed, it is shown newest first, up to now and without groups. A query is about a user in one
 * of two ways, by `about` or by `userId` and `resourceId`: the latest change decides.
 */
export const withChanges = (state: TrailState, changes: Partial<TrailState>): TrailState => {
  const changed = { ...state, ...changes };
  const next = changed.action === 'CREATE' ? changed : { ...changed, only: '' as const };
  const isNewlyAbout = next.about !== '' && next.about !== state.about;
  const said = isNewlyAbout
    ? { ...next, userId: '', resourceId: '' }
    : { ...next, about: next.userId || next.resourceId ? '' : next.about };
  if (changes.follow === 'on') return { ...said, until: '', order: '', group: '' };
  if (said.group) return { ...said, follow: '', reason: '' };
  return said.until || said.order === 'asc' ? { ...said, follow: '' } : said;
};

/** The filters that the service does not know: by reason, by the lack of a value, by registration. */
export const ownFilters = (state: TrailState): readonly (Grouping | 'only')[] =>
  ([...Object.keys(groupings), 'only'] as (Grouping | 'only')[]).filter(
    (by) => state[by] !== '' && (by === 'reason' || by === 'only' || state[by] === none),
  );

const numbers: readonly string[] = ['userId', 'about', 'machineId'];

export const parametersOf = (state: TrailState): Parameters => {
  const { follow: _, group: __, reason: ___, only: ____, ...filters } = state;
  const own: readonly string[] = ownFilters(state);
  const given = Object.entries(filters).filter(
    ([name, value]) => value !== '' && !own.includes(name),
  );
  const number = ([name, value]: [string, string]) => [
    name,
    numbers.includes(name) ? Number(value) : value,
  ];
  return Object.fromEntries(given.map(number));
};

/** How many seconds before now the entries of a preset begin. */
export const presets = { 'Last hour': 3600, 'Last day': 86_400, 'Last week': 604_800 } as const;

/** The time a number of seconds before another time, in whole seconds. */
export const secondsBefore = (now: number, seconds: number): string =>
  new Date((Math.floor(now / 1000) - seconds) * 1000).toISOString();

/** A time in the form of an input of the type datetime-local: on the clock of this machine. */
export const toLocal = (iso: string): string => {
  const time = new Date(timeOf(iso));
  if (Number.isNaN(time.getTime())) return '';
  const shifted = new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString();
  return shifted.slice(0, time.getMilliseconds() ? 23 : 19);
};

/**
 * The time that such an input means.
 * @param before the time that was put into the input. It is returned while the input is unchanged, because a clock
 * that is set back shows an hour twice.
 */
export const fromLocal = (text: string, before = ''): string => {
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) return '';
  return time.getTime() === Date.parse(toLocal(before)) ? before : time.toISOString();
};

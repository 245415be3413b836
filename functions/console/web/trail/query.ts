/** The query of the audit trail, as the address bar, the controls and the API have it. */
import type { AuditEntry, paths } from '../contract.d.ts';
import { timeOf } from '../format.ts';

const names = [
  'userId',
  'action',
  'result',
  'resourceId',
  'since',
  'until',
  'order',
  'follow',
] as const;

/** What the screen shows: all that is in the address bar. A value that is not set is empty. */
export type TrailState = Readonly<
  Record<'userId' | 'resourceId' | 'since' | 'until', string> & {
    readonly action: AuditEntry['action'] | '';
    readonly result: AuditEntry['result'] | '';
    readonly order: 'asc' | '';
    readonly follow: 'on' | '';
  }
>;

type Parameters = NonNullable<paths['/api/admin/audit-logs']['get']['parameters']['query']>;

/** @param query of the address bar. The service says what is wrong with a value. */
export const readState = (query: Readonly<Record<string, string>>): TrailState => {
  const state = Object.fromEntries(names.map((name) => [name, query[name] ?? '']));
  return withChanges(state as unknown as TrailState, {});
};

/** Whoever follows sees the newest first, up to now: the change that came last decides. */
export const withChanges = (state: TrailState, changes: Partial<TrailState>): TrailState => {
  const next = { ...state, ...changes };
  if (changes.follow === 'on') return { ...next, until: '', order: '' };
  return next.until || next.order === 'asc' ? { ...next, follow: '' } : next;
};

/** The parameters of a request. */
export const parametersOf = ({ follow: _, userId, ...filters }: TrailState): Parameters => {
  const given = Object.entries(filters).filter(([, value]) => value !== '');
  return { ...Object.fromEntries(given), ...(userId ? { userId: Number(userId) } : {}) };
};

/** Seconds before now from which on a preset shows entries. */
export const presets = { 'Last hour': 3600, 'Last day': 86_400, 'Last week': 604_800 } as const;

/** The time so many seconds before another one, in whole seconds. */
export const secondsBefore = (now: number, seconds: number): string =>
  new Date((Math.floor(now / 1000) - seconds) * 1000).toISOString();

/** A time as an input of the type datetime-local has it: on the clock of this machine. */
export const toLocal = (iso: string): string => {
  const time = new Date(timeOf(iso));
  if (Number.isNaN(time.getTime())) return '';
  const shifted = new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString();
  return shifted.slice(0, time.getMilliseconds() ? 23 : 19);
};

/** The same backwards. */
export const fromLocal = (text: string): string => {
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? '' : time.toISOString();
};

/** The findings of the checks of the seal, as screens show them wherever they are about them. */
import type { AuditSealSummary } from './contract.d.ts';
import type { Query } from './router.ts';
import { createStore } from './store.ts';

export type Check = NonNullable<AuditSealSummary['check']>;
export type Finding = Check['named'][number];

/** The last check of the seal, once it is known. */
export const lastCheck = createStore<Check | undefined>(undefined);

/** The words for an entry or a file, by the kind of a finding. */
export const sayings: Readonly<Record<string, string>> = {
  changed: 'Changed',
  deleted: 'Deleted',
  inserted: 'Added',
  altered: 'Changed',
  foreign: 'Not a file',
  missing: 'Missing',
  unsigned: 'Not signed',
};

/** Whether a finding is about an entry, whose id it names. */
export const isOfEntry = ({ subject }: Finding): boolean => /^\d+$/.test(subject);

/** Milliseconds since 1970 at which ids of entries begin, and ids of a millisecond (functions/README.md). */
const [idEpoch, idsPerMillisecond] = [Date.UTC(2026, 0, 1), 4096];

/** Milliseconds around a finding that are shown: more of an entry that is not there any more. */
const around = { deleted: 60_000, others: 1000 };

/** The query of the trail that shows where the entry of a finding is or was, by the time in its id. */
export const placeOf = ({ kind, subject }: Finding): Query => {
  const time = idEpoch + Math.floor(Number(subject) / idsPerMillisecond);
  const margin = kind === 'deleted' ? around.deleted : around.others;
  const [since, until] = [time - margin, time + margin + 1].map((at) => new Date(at).toISOString());
  return { since, until };
};

/** What entries of the table are that no window holds. */
import { beginning } from '../archive/digest.ts';
import { idText, lineOf, replayedBy } from '../archive/line.ts';
import { graceOf, recheckOf, timeBefore } from '../archive/windows.ts';
import { type Compared, itemOf } from './compare.ts';
import { endOfTime } from './listing.ts';
import type { Seen } from './snapshot.ts';
import type { Finding } from './verification.ts';
import type { Walk } from './walk.ts';

const timeForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Whether the service may have written an entry of a time: none is to come, or of another form. */
type IsTimely = (time: string) => boolean;

const timelyAt =
  (now: number, interval: number): IsTimely =>
  (time) =>
    timeForm.test(time) && Date.parse(time) <= now + graceOf(interval);

/** Hashes of entries that `replay-audit` wrote after the newest window, by id. */
const replayedSince = async (
  { source }: Compared,
  since: string,
  isTimely: IsTimely,
): Promise<ReadonlyMap<string, string>> => {
  const replayed = new Map<string, string>();
  for await (const item of source.between(since, endOfTime)) {
    if (!isTimely(String(item.created_at))) continue;
    for (const { id, sha256 } of replayedBy(item)) replayed.set(idText(id), sha256);
  }
  return replayed;
};

type Judgement = 'unclear' | 'unsealed' | 'inserted';

/** @returns what an entry is that no window holds */
const judge = async (
  compared: Compared,
  { newest, gaps }: Walk,
): Promise<(e: Seen) => Judgement> => {
  const { until: end, interval } = newest ?? { until: beginning, interval: 60 };
  const recheck = timeBefore(end, recheckOf(interval));
  const isTimely = timelyAt(compared.now ?? Date.now(), interval);
  const replayed = await replayedSince(compared, end, isTimely);
  return ({ id, created_at: time, hash }) => {
    if (gaps.some(({ from, until }) => time >= from && time < until)) return 'unclear';
    const isAwaited = time >= recheck || replayed.get(id) === hash;
    if (isAwaited && isTimely(time)) return 'unsealed';
    const mayBeLate = gaps.some(({ until, mayHoldLate }) => mayHoldLate && time < until);
    return mayBeLate ? 'unclear' : 'inserted';
  };
};

/** @returns how many entries that no window holds are too new for one */
export async function* judgeUnmet(compared: Compared, walk: Walk): AsyncGenerator<Finding, number> {
  const judgementOf = await judge(compared, walk);
  let unsealed = 0;
  for (const entry of compared.snapshot.unmet()) {
    const { id: subject } = entry;
    const kind = judgementOf(entry);
    if (kind === 'unsealed') {
      unsealed += 1;
      continue;
    }
    const item = await itemOf(compared.source, Number(subject));
    yield { kind, subject, ...(item ? { after: lineOf(item) } : {}) };
  }
  return unsealed;
}

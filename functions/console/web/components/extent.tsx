import { counted } from '../format.ts';
import type { Whole } from '../trail/whole.ts';
import { Time } from './text.tsx';

/** Says how many entries were counted, and from or up to which time if the query has more entries. */
export const Extent = ({ data = [], isBusy, isFull, failure }: Whole) => {
  const times = data.map(({ created_at: at }) => at).toSorted();
  const [oldest, newest] = [times[0], times.at(-1)];
  const isOldestFirst = data[0]?.created_at === oldest;
  return (
    <span class="muted" role="status" aria-busy={isBusy}>
      {counted(data.length, 'entry', 'entries')}
      {(isBusy || failure) && ' read so far…'}
      {isFull && oldest && newest && (
        <>
          , {isOldestFirst ? 'up to' : 'from'} <Time at={isOldestFirst ? newest : oldest} />
          {!isOldestFirst && ' on'}: there are more, narrow the time to see them
        </>
      )}
    </span>
  );
};

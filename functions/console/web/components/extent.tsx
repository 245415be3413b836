import { counted } from '../format.ts';
import type { Whole } from '../trail/whole.ts';
import { Time } from './text.tsx';

/** Says how many entries were counted, and from which time on if the query has more entries. */
export const Extent = ({ data = [], isBusy, isFull }: Whole) => {
  const times = data.map(({ created_at: at }) => at).toSorted();
  return (
    <span class="muted" role="status">
      {counted(data.length, 'entry', 'entries')}
      {isBusy && ' read so far…'}
      {isFull && times[0] && (
        <>
          , from <Time at={times[0]} /> on: there are more, narrow the time to see them
        </>
      )}
    </span>
  );
};

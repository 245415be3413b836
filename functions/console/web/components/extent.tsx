import { counted } from '../format.ts';
import type { Whole } from '../trail/whole.ts';
import { Time } from './text.tsx';

/** How many entries of a query are counted, and from when on where there are more. */
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

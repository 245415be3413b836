import type { ComponentChildren } from 'preact';
import { useReducer } from 'preact/hooks';
import type { ConsoleError } from '../api.ts';
import { duration } from '../format.ts';
import { type Loading, useEvery } from '../loading.ts';
import { createStore } from '../store.ts';
import { Button } from './button.tsx';

/** The seconds until a time by `performance.now()`, counted down; 0 after it. */
export const useCountdown = (until: number): number => {
  const [, drawAgain] = useReducer((count: number) => count + 1, 0);
  const seconds = Math.max(0, Math.ceil((until - performance.now()) / 1000));
  useEvery(250, () => drawAgain(undefined), seconds > 0);
  return seconds;
};

/**
 * Says what failed, why, and how long to wait.
 * @param what the failure, such as `The users could not be loaded`
 * @param retry tries again; absent: a form has failed, which is sent again instead
 */
export const FailureNotice = ({
  what,
  failure,
  retry,
}: {
  what: string;
  failure: ConsoleError | undefined;
  retry?: (() => void) | undefined;
}) => {
  const seconds = useCountdown(failure?.mayRetryAt ?? 0);
  if (!failure) return null;
  return (
    <div class="notice bad" role="alert">
      <p>
        <strong>{what}.</strong> {failure.said}
      </p>
      {/* Screen readers would read the whole notice again each second. */}
      {seconds > 0 && <p aria-hidden="true">You can try again in {duration(seconds)}.</p>}
      {retry && (
        <Button onClick={retry} disabled={seconds > 0}>
          Try again
        </Button>
      )}
    </div>
  );
};

interface LoadedProps<Data> {
  /** Such as `The users`. */
  readonly what: string;
  readonly from: Loading<Data>;
  readonly children: (data: Data) => ComponentChildren;
}

/** The data once it is loaded; until then, a notice that it is being loaded, or that it failed and can be retried. */
export const Loaded = <Data,>({ what, from, children }: LoadedProps<Data>) => {
  const { data, failure, isBusy, reload } = from;
  return (
    <>
      <FailureNotice what={`${what} could not be loaded`} failure={failure} retry={reload} />
      {data === undefined && isBusy && (
        <p class="busy muted" role="status">
          {what.replace('The', 'Loading the')}…
        </p>
      )}
      {data !== undefined && children(data)}
    </>
  );
};

const announced = createStore('');

interface Told {
  readonly said: ComponentChildren;
  readonly kind: 'good' | '';
  readonly number: number;
}

const told = createStore<Told>({ said: '', kind: '', number: 0 });

/** Tells users of screen readers what has changed in the page. */
export const announce = (text: string): void => announced.set(text);

/**
 * Shows everybody the outcome of the latest action, in place of the outcome before it.
 * @param said empty: another action has begun, which may fail @param kind '': only a part was done
 */
export const tell = (said: ComponentChildren, kind: Told['kind'] = 'good'): void =>
  told.set({ said, kind, number: told.get().number + 1 });

/** The page contains it once. */
export const Announcer = () => {
  const { said, kind, number } = told.use();
  return (
    <>
      <p class="unseen" role="status">
        {announced.use()}
      </p>
      <div role="status">
        {said && (
          <p key={number} class={`toast notice ${kind}`}>
            {said}
          </p>
        )}
      </div>
    </>
  );
};

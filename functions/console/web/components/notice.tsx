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
 * @param what such as `The users could not be loaded`
 * @param retry tries again; absent: something was to be done, and its form is sent again
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
      {/* The whole notice would be read anew each second. */}
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

/** The data once it is loaded; or a notice that it is under way, or has failed and can be tried again. */
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
 * Tells everybody what was just done, in place of what was done before.
 * @param said nothing: something else is being done now, and may fail @param kind '': only a part was done
 */
export const tell = (said: ComponentChildren, kind: Told['kind'] = 'good'): void =>
  told.set({ said, kind, number: told.get().number + 1 });

/** Stands once in the page. */
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

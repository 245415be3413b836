import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Failure } from '../api.ts';
import { duration } from '../format.ts';
import { createStore } from '../store.ts';

/** A message in the page. Failures are announced at once, others when there is time. */
export const Notice = ({
  kind,
  children,
}: {
  kind: 'failure' | 'success' | 'info';
  children: ComponentChildren;
}) => (
  <div class={`notice ${kind}`} role={kind === 'failure' ? 'alert' : 'status'}>
    {children}
  </div>
);

/** The seconds until a time, counted down; 0 after it. */
export const useCountdown = (until: number): number => {
  const secondsLeft = () => Math.max(0, Math.ceil((until - Date.now()) / 1000));
  const [seconds, setSeconds] = useState(secondsLeft);
  useEffect(() => {
    setSeconds(secondsLeft());
    const timer = setInterval(() => setSeconds(secondsLeft()), 250);
    return () => clearInterval(timer);
  }, [until]);
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
  failure: Failure | undefined;
  retry?: (() => void) | undefined;
}) => {
  const seconds = useCountdown(failure?.mayRetryAt ?? 0);
  if (!failure) return null;
  return (
    <Notice kind="failure">
      <p>
        <strong>{what}.</strong> {failure.message}
        {failure.mayHaveChanged && ' It may have been done all the same.'}
      </p>
      {/* The whole notice would be read anew each second. */}
      {seconds > 0 && <p aria-hidden="true">You can try again in {duration(seconds)}.</p>}
      {retry && (
        <button type="button" onClick={retry} disabled={seconds > 0}>
          Try again
        </button>
      )}
    </Notice>
  );
};

/** Shows that something is under way, once it takes longer than 300 ms. */
export const Busy = ({ label }: { label: string }) => (
  <p class="busy" role="status">
    <span class="spinner" aria-hidden="true" /> {label}
  </p>
);

const announced = createStore('');
const told = createStore({ text: '', number: 0 });

/** Tells users of screen readers what has changed in the page. */
export const announce = (text: string): void => announced.set(text);

/** Tells everybody what was just done. */
export const tell = (text: string): void => told.set({ text, number: told.get().number + 1 });

/** Stands once in the page. */
export const Announcer = () => {
  const { text, number } = told.use();
  return (
    <>
      <p class="unseen" role="status">
        {announced.use()}
      </p>
      <div role="status">
        {text && (
          <p key={number} class="toast">
            {text}
          </p>
        )}
      </div>
    </>
  );
};

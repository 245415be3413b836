import { useEffect, useRef, useState } from 'preact/hooks';
import { Failure } from '../api.ts';
import type { User } from '../contract.d.ts';
import { counted } from '../format.ts';
import { failureOf } from '../loading.ts';
import { Dialog } from './dialog.tsx';
import { Cancel, Field, Form } from './form.tsx';
import { PersonWithAddress } from './person.tsx';

/** Users that can be selected at most. */
export const mostSelected = 100;

/** Something that is done to each user of a selection, one request each. */
export interface ManyDeed {
  /** Such as `Delete`, and `deleted`. */
  readonly title: string;
  readonly done: string;
  readonly consequence: string;
  /** Whether the number of users must be typed before. */
  readonly asksNumber: boolean;
  /** @returns the user as it is then; undefined: deleted */
  readonly act: (user: User) => Promise<User | undefined>;
}

interface Outcome {
  readonly done: number;
  readonly failed: readonly { readonly user: User; readonly why: string }[];
  readonly isOver: boolean;
}

interface ManyProps extends ManyDeed {
  readonly users: readonly User[];
  readonly onDone: (user: User, left: User | undefined) => void;
  readonly close: () => void;
}

/**
 * Does something to user after user.
 * @param tell gets the outcome so far; nothing more is done when it returns false
 */
const doToEach = async (
  users: readonly User[],
  act: (user: User) => Promise<void>,
  tell: (outcome: Outcome) => boolean,
): Promise<void> => {
  let outcome: Outcome = { done: 0, failed: [], isOver: false };
  for (const user of users) {
    if (!tell(outcome)) break;
    const failure = await act(user).then(() => undefined, failureOf);
    outcome = failure
      ? { ...outcome, failed: [...outcome.failed, { user, why: failure.said }] }
      : { ...outcome, done: outcome.done + 1 };
    // The session is over.
    if (failure?.status === 401) break;
  }
  tell({ ...outcome, isOver: true });
};

/** Asks, does something to user after user, and says what failed and why. */
export const Many = ({ users: given, title, done, onDone, close, ...deed }: ManyProps) => {
  // The selection shrinks meanwhile.
  const [users] = useState(given);
  const [outcome, setOutcome] = useState<Outcome>();
  const isStopped = useRef(false);
  const stop = () => {
    isStopped.current = true;
  };
  useEffect(() => stop, []);
  const all = counted(users.length, 'user');
  const act = async ({ typed }: { typed?: string }) => {
    if (deed.asksNumber && typed?.trim() !== String(users.length)) {
      throw new Failure(`Type ${users.length} to confirm.`);
    }
    await doToEach(
      users,
      async (user) => onDone(user, await deed.act(user)),
      (so) => {
        setOutcome(so);
        return !isStopped.current;
      },
    );
  };
  const passed = outcome ? outcome.done + outcome.failed.length : 0;
  return (
    <Dialog title={`${title} ${all}`} close={close}>
      {outcome && (
        <>
          <progress max={users.length} value={passed} aria-label={`Of ${all}`} />
          <p role="status">
            {outcome.done} of {all} {done}
            {outcome.isOver ? '.' : '…'}
            {outcome.isOver && passed < users.length && ' The others were left as they are.'}
          </p>
        </>
      )}
      {outcome && outcome.failed.length > 0 && (
        <ul class="bad">
          {outcome.failed.map(({ user, why }) => (
            <li key={user.id}>
              <PersonWithAddress user={user} />: {why}
            </li>
          ))}
        </ul>
      )}
      {outcome?.isOver ? (
        <button type="button" onClick={close}>
          Close
        </button>
      ) : (
        <Form
          act={act}
          failed="Nothing was done"
          submit={`${title} ${all}`}
          isDangerous
          beside={
            outcome ? (
              <button type="button" onClick={stop}>
                Stop
              </button>
            ) : (
              <Cancel close={close} />
            )
          }
        >
          {!outcome && (
            <>
              <p>{deed.consequence}</p>
              <details>
                <summary>Who they are</summary>
                <ul>
                  {users.map((user) => (
                    <li key={user.id}>
                      <PersonWithAddress user={user} />
                    </li>
                  ))}
                </ul>
              </details>
              {deed.asksNumber && (
                <Field
                  label={`Type ${users.length} to confirm`}
                  name="typed"
                  autoComplete="off"
                  inputMode="numeric"
                />
              )}
            </>
          )}
        </Form>
      )}
    </Dialog>
  );
};

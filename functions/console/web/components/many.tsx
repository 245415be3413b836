import { useEffect, useRef, useState } from 'preact/hooks';
import { Failure } from '../api.ts';
import type { User } from '../contract.d.ts';
import { counted } from '../format.ts';
import { failureOf } from '../loading.ts';
import { Button } from './button.tsx';
import { closeDialog, Dialog } from './dialog.tsx';
import { Cancel, Field, Form } from './form.tsx';
import { PersonWithAddress } from './person.tsx';

export const mostSelected = 100;

/** Something that is done to each user of a selection, one request each. */
export interface ManyDeed {
  /** Such as `Delete`, and `deleted`. */
  readonly title: string;
  readonly done: string;
  readonly consequence: string;
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
}

const withNext = (outcome: Outcome, user: User, failure: Failure | undefined): Outcome =>
  failure
    ? { ...outcome, failed: [...outcome.failed, { user, why: failure.said }] }
    : { ...outcome, done: outcome.done + 1 };

/** Asks, does something to user after user, and says what failed and why. */
export const Many = ({ users, title, done, onDone, ...deed }: ManyProps) => {
  const [outcome, setOutcome] = useState<Outcome>();
  const isStopped = useRef(false);
  const stop = () => {
    isStopped.current = true;
  };
  useEffect(() => stop, []);
  const all = counted(users.length, 'user');
  const confirm = ({ typed }: { typed?: string }) => {
    const isRight = !deed.asksNumber || typed?.trim() === String(users.length);
    if (!isRight) throw new Failure(`Type ${users.length} to confirm.`);
  };
  const act = async (values: { typed?: string }) => {
    confirm(values);
    let so: Outcome = { done: 0, failed: [], isOver: false };
    for (const user of users) {
      if (isStopped.current) break;
      setOutcome(so);
      const failure = await deed.act(user).then((left) => {
        onDone(user, left);
        return undefined;
      }, failureOf);
      so = withNext(so, user, failure);
      // The session is over.
      if (failure?.status === 401) break;
    }
    setOutcome({ ...so, isOver: true });
  };
  const passed = outcome ? outcome.done + outcome.failed.length : 0;
  return (
    <Dialog title={`${title} ${all}`}>
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
        <Button onClick={closeDialog}>Close</Button>
      ) : (
        <Form
          act={act}
          failed="Nothing was done"
          submit={`${title} ${all}`}
          isDangerous
          beside={outcome ? <Button onClick={stop}>Stop</Button> : <Cancel />}
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

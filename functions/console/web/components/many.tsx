import { useEffect, useRef, useState } from 'preact/hooks';
import type { User } from '../../../client/paths.ts';
import { ConsoleError } from '../api.ts';
import { counted } from '../format.ts';
import { useAsk } from '../leaving.ts';
import { failureOf } from '../loading.ts';
import { Button } from './button.tsx';
import { closeDialog } from './dialog.tsx';
import { Cancel, Field, Form } from './form.tsx';
import { tell } from './notice.tsx';
import { PersonWithAddress } from './person.tsx';

/** An action on each user of a selection, with one request for each. */
export interface ManyDeed {
  /** Such as `Delete`, and `deleted`. */
  readonly title: string;
  readonly done: string;
  readonly consequence: string;
  readonly asksNumber: boolean;
  /** @returns the user after the action; undefined: deleted */
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

const withNext = (outcome: Outcome, user: User, failure: ConsoleError | undefined): Outcome =>
  failure
    ? { ...outcome, failed: [...outcome.failed, { user, why: failure.said }] }
    : { ...outcome, done: outcome.done + 1 };

const passedIn = ({ done, failed }: Outcome): number => done + failed.length;

const said = ({ users, done }: ManyProps, outcome: Outcome): string =>
  `${outcome.done} of ${counted(users.length, 'user')} ${done}`;

const rest = ({ users }: ManyProps, outcome: Outcome): string =>
  passedIn(outcome) < users.length ? ' The others were left as they are.' : '';

/** Shows a notice of the outcome in the page, once the dialog is closed. */
const tellOutcome = (props: ManyProps, outcome: Outcome): void => {
  const failed = outcome.failed.length > 0 ? `, ${outcome.failed.length} failed` : '';
  const isWhole = outcome.done === props.users.length;
  tell(`${said(props, outcome)}${failed}.${rest(props, outcome)}`, isWhole ? 'good' : '');
};

/** Applies an action to one user after another, until it is stopped, or the dialog is left after a question. */
const useMany = (props: ManyProps) => {
  const { users, act, onDone } = props;
  const [outcome, setOutcome] = useState<Outcome>();
  const state = useRef({ isStopped: false, isLeft: false });
  const stop = () => {
    state.current.isStopped = true;
  };
  useEffect(
    () => () => {
      state.current = { isStopped: true, isLeft: true };
    },
    [],
  );
  useAsk(() =>
    outcome && !outcome.isOver
      ? `${said(props, outcome)} so far. Stop here, and leave the others as they are?`
      : undefined,
  );
  const doNext = async (so: Outcome, user: User): Promise<Outcome> => {
    setOutcome(so);
    const failure = await act(user).then((left) => {
      onDone(user, left);
      return undefined;
    }, failureOf);
    // The session is over.
    if (failure?.status === 401) stop();
    return withNext(so, user, failure);
  };
  const run = async () => {
    let so: Outcome = { done: 0, failed: [], isOver: false };
    for (const user of users) {
      if (state.current.isStopped) break;
      so = await doNext(so, user);
    }
    setOutcome({ ...so, isOver: true });
    if (state.current.isLeft) tellOutcome(props, so);
  };
  return { outcome, run, stop };
};

export const Many = (props: ManyProps) => {
  const { users, title, ...deed } = props;
  const { outcome, run, stop } = useMany(props);
  const all = counted(users.length, 'user');
  const act = async ({ typed }: { typed?: string }) => {
    const isRight = !deed.asksNumber || typed?.trim() === String(users.length);
    if (!isRight) throw new ConsoleError(`Type ${users.length} to confirm.`);
    await run();
  };
  return (
    <>
      {outcome && (
        <>
          <progress max={users.length} value={passedIn(outcome)} aria-label={`Of ${all}`} />
          <p role="status">
            {said(props, outcome)}
            {outcome.isOver ? `.${rest(props, outcome)}` : '…'}
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
              <details open={users.length <= 10}>
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
    </>
  );
};

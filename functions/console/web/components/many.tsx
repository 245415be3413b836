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

/** The users to whom the action was applied, and why it failed. */
type Results = readonly { readonly user: User; readonly why: string | undefined }[];

interface ManyProps extends ManyDeed {
  readonly users: readonly User[];
  readonly onDone: (user: User, left: User | undefined) => void;
}

const failedIn = (results: Results): Results => results.filter(({ why }) => why !== undefined);

const said = ({ users, done }: ManyProps, results: Results): string =>
  `${results.length - failedIn(results).length} of ${counted(users.length, 'user')} ${done}`;

const rest = ({ users }: ManyProps, { length }: Results): string =>
  length < users.length ? ' The others were left as they are.' : '';

/** Shows a notice of the outcome in the page, once the dialog is closed. */
const tellOutcome = (props: ManyProps, results: Results): void => {
  const { length } = failedIn(results);
  const isWhole = length === 0 && results.length === props.users.length;
  const failed = length > 0 ? `, ${length} failed` : '';
  tell(`${said(props, results)}${failed}.${rest(props, results)}`, isWhole ? 'good' : '');
};

/** Applies an action to one user after another, until it is stopped, or the dialog is left after a question. */
const useMany = (props: ManyProps) => {
  const [results, setResults] = useState<Results>([]);
  const [state, setState] = useState<'ready' | 'busy' | 'over'>('ready');
  const is = useRef({ stopped: false, left: false });
  const stop = () => {
    is.current.stopped = true;
  };
  useEffect(
    () => () => {
      is.current = { stopped: true, left: true };
    },
    [],
  );
  useAsk(() =>
    state === 'busy'
      ? `${said(props, results)} so far. Stop here, and leave the others as they are?`
      : undefined,
  );
  const actOn = (user: User) =>
    props.act(user).then((left) => void props.onDone(user, left), failureOf);
  const run = async () => {
    setState('busy');
    let so: Results = [];
    for (const user of props.users) {
      if (is.current.stopped) break;
      const failure = await actOn(user);
      // The session is over.
      if (failure?.status === 401) stop();
      so = [...so, { user, why: failure?.said }];
      setResults(so);
    }
    setState('over');
    if (is.current.left) tellOutcome(props, so);
  };
  return { results, state, run, stop };
};

export const Many = (props: ManyProps) => {
  const { users, title, ...deed } = props;
  const { results, state, run, stop } = useMany(props);
  const failed = failedIn(results);
  const all = counted(users.length, 'user');
  const act = async ({ typed }: { typed?: string }) => {
    const isRight = !deed.asksNumber || typed?.trim() === String(users.length);
    if (!isRight) throw new ConsoleError(`Type ${users.length} to confirm.`);
    await run();
  };
  return (
    <>
      {state !== 'ready' && (
        <>
          <progress max={users.length} value={results.length} aria-label={`Of ${all}`} />
          <p role="status">
            {said(props, results)}
            {state === 'over' ? `.${rest(props, results)}` : '…'}
          </p>
        </>
      )}
      {failed.length > 0 && (
        <ul class="bad">
          {failed.map(({ user, why }) => (
            <li key={user.id}>
              <PersonWithAddress user={user} />: {why}
            </li>
          ))}
        </ul>
      )}
      {state === 'over' ? (
        <Button onClick={closeDialog}>Close</Button>
      ) : (
        <Form
          act={act}
          failed="Nothing was done"
          submit={`${title} ${all}`}
          isDangerous
          beside={state === 'busy' ? <Button onClick={stop}>Stop</Button> : <Cancel />}
        >
          {state === 'ready' && (
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

/** How admins help a user: dialogs that do known steps in order, and can go on where a step has failed. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { type ConsoleError, settings } from '../api.ts';
import { counted } from '../format.ts';
import { useAsk } from '../leaving.ts';
import { failureOf, useLoad } from '../loading.ts';
import { Button } from './button.tsx';
import { closeDialog, Dialog, openDialog } from './dialog.tsx';
import { AddressField, Cancel, Form } from './form.tsx';
import {
  confirmAddress,
  isHeldAfter,
  mustRepeat,
  type Plan,
  plansFor,
  replaceAddress,
  type Step,
  stepsOf,
} from './help-steps.ts';
import { Loaded, tell } from './notice.tsx';
import { PersonWithAddress } from './person.tsx';
import { readUser, type UserProps } from './profile.tsx';
import { ActionRow, Card } from './screen.tsx';
import { Badge } from './text.tsx';

export const Help = (props: UserProps) => (
  <Card title="How to help">
    <ul>
      {plansFor(props.user).map((plan) => (
        <ActionRow key={plan.title} name={plan.title} text={plan.text}>
          <Button
            aria-label={`Open ${plan.title}`}
            onClick={() => openDialog(<HelpDialog {...props} plan={plan} />)}
          >
            Open
          </Button>
        </ActionRow>
      ))}
    </ul>
  </Card>
);

type HelpProps = UserProps & { readonly plan: Plan };

type State = 'ready' | 'busy' | 'failed' | 'over';

/** The page may be older than what a stranger has changed. */
const HelpDialog = ({ user: { id }, ...props }: HelpProps) => (
  <Dialog title={props.plan.title}>
    <Loaded what="The user" from={useLoad(`help ${id}`, () => readUser(id))}>
      {(user) => <HelpForm {...props} user={user} />}
    </Loaded>
  </Dialog>
);

const HelpForm = (props: HelpProps) => {
  const { user } = props;
  const { steps, results, state, failure, said, run } = useSteps(props);
  const address = [confirmAddress, replaceAddress].find((step) => steps.includes(step));
  const asksAddress = address && results.length <= steps.indexOf(address);
  const list = <StepList steps={steps} results={results} state={state} failure={failure} />;
  return (
    <>
      <p>
        <PersonWithAddress user={user} />
      </p>
      {state !== 'ready' && (
        <>
          <progress max={steps.length} value={results.length} aria-label="Steps that are done" />
          <p role="status">{said}</p>
        </>
      )}
      {state === 'over' ? (
        <>
          {list}
          <div class="row">
            <button type="button" ref={focus} onClick={closeDialog}>
              Close
            </button>
          </div>
        </>
      ) : (
        <Form
          act={run}
          failed={isLimit(failure) ? 'No link was mailed' : `Step ${results.length + 1} has failed`}
          submit={state === 'failed' ? 'Go on' : 'Begin'}
          isDangerous
          beside={beside[state]}
        >
          {list}
          {asksAddress && <AddressOf user={user} isKept={address === confirmAddress} />}
          {state === 'ready' && <p class="muted">Make sure that you know who asks.</p>}
        </Form>
      )}
    </>
  );
};

/** Whether a link can be mailed, but later. */
const isLimit = (failure: ConsoleError | undefined) => failure?.code === 'MAILS_LIMITED';

const beside = {
  ready: <Cancel />,
  busy: undefined,
  failed: <Button onClick={closeDialog}>Close</Button>,
};

/** The button that had the focus is gone. */
const focus = (button: HTMLElement | null): void => button?.focus();

/** @param isKept whether the present address may stay */
const AddressOf = ({ user, isKept }: Pick<UserProps, 'user'> & { readonly isKept: boolean }) =>
  isKept ? (
    <>
      <AddressField autoComplete="off" defaultValue={user.email} />
      <label class="beside">
        <input type="checkbox" required />
        <span>I have confirmed by another way than mail that this address is the user’s.</span>
      </label>
    </>
  ) : (
    <AddressField autoComplete="off" label="New email address" pattern={settings.emailPattern} />
  );

interface StepListProps {
  readonly steps: readonly Step[];
  /** The sentences that say what the first steps have done. */
  readonly results: readonly string[];
  readonly state: State;
  /** The failure of the step after them. */
  readonly failure: ConsoleError | undefined;
}

/** The steps, each with its state. While some are left, it asks before they are left as they are. */
const StepList = ({ steps, results, state, failure }: StepListProps) => {
  useAsk(() =>
    state === 'busy' || state === 'failed'
      ? `${counted(results.length, 'step')} of ${steps.length} done. Leave the others as they are?`
      : undefined,
  );
  const isFailed = (index: number) => index === results.length && state === 'failed';
  return (
    <ol>
      {steps.map(({ title, text }, index) => (
        <ActionRow
          key={title}
          name={`${index + 1}. ${title}`}
          text={results[index] ?? (isFailed(index) ? failure?.said : undefined) ?? text}
        >
          {index < results.length && <Badge kind="good">Done</Badge>}
          {isFailed(index) && !isLimit(failure) && <Badge kind="bad">Failed</Badge>}
          {isFailed(index) && isLimit(failure) && <Badge>Waits</Badge>}
          {index === results.length && state === 'busy' && <Badge>Now</Badge>}
        </ActionRow>
      ))}
    </ol>
  );
};

/** Says how many steps are done and, as the service has it now, whether the user is suspended. */
const standingOf = async (id: number, steps: readonly Step[], count: number): Promise<string> => {
  const now = await readUser(id).catch(() => undefined);
  const done = `${count} of ${counted(steps.length, 'step')} done.`;
  if (now?.suspended_at) return `${done} The user stays suspended.`;
  if (!isHeldAfter(steps.slice(0, count))) return done;
  return `${done} ${now ? 'The user is no longer suspended.' : 'Whether the user is still suspended is not known.'}`;
};

/** Does one step after another, from the first that is not done. Once the dialog is left, it begins none. */
const useSteps = ({ plan, user, changed }: HelpProps) => {
  const { id } = user;
  const before = useRef<typeof user | undefined>(undefined);
  const [results, setResults] = useState<readonly string[]>([]);
  const [state, setState] = useState<State>('ready');
  const [failure, setFailure] = useState<ConsoleError>();
  const [standing, setStanding] = useState('');
  const email = useRef(user.email);
  const isLeft = useRef(false);
  const allSteps = () => stepsOf(plan, before.current ?? user);
  const steps = allSteps();
  const tellStanding = async ({ length }: readonly string[]) =>
    tell(await standingOf(id, allSteps(), length), '');
  const leave = useRef(() => {});
  leave.current = () => {
    isLeft.current = true;
    if (state === 'failed') void tellStanding(results);
  };
  useEffect(() => () => leave.current(), []);
  const doRest = async (so: string[]) => {
    let now = await readUser(id);
    before.current ??= now;
    const all = allSteps();
    if (mustRepeat(all.slice(0, so.length), all[so.length], now)) so.length = 0;
    setResults([...so]);
    for (const step of all.slice(so.length)) {
      now = await readUser(id);
      if (isLeft.current) return;
      so.push(await step.act({ user: now, before: before.current, email: email.current }));
      setResults([...so]);
    }
  };
  const run = async ({ email: typed }: { readonly email?: string }) => {
    email.current = typed?.trim() ?? email.current;
    const so = [...results];
    setState('busy');
    try {
      await doRest(so);
      setState('over');
    } catch (error) {
      setFailure(failureOf(error));
      setStanding(await standingOf(id, allSteps(), so.length));
      setState('failed');
      throw error;
    } finally {
      if (isLeft.current) await tellStanding(so);
      await changed();
    }
  };
  const said = {
    ready: '',
    busy: `Step ${results.length + 1} of ${steps.length}: ${steps[results.length]?.title}…`,
    failed: `${standing} Go on, or do by hand what is left.`,
    over: ['All steps are done.', ...plan.left(before.current ?? user)].filter(Boolean).join(' '),
  }[state];
  return { steps, results, state, failure, said, run };
};

/** How admins help a user: dialogs that do known steps in order, and can go on where a step has failed. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { settings } from '../api.ts';
import { counted } from '../format.ts';
import { useAsk } from '../leaving.ts';
import { failureOf } from '../loading.ts';
import { Button } from './button.tsx';
import { closeDialog, Dialog, openDialog } from './dialog.tsx';
import { AddressField, Cancel, Form } from './form.tsx';
import {
  confirmAddress,
  isHeldAfter,
  type Plan,
  plansFor,
  replaceAddress,
  type Step,
  stepsOf,
} from './help-steps.ts';
import { tell } from './notice.tsx';
import { PersonWithAddress } from './person.tsx';
import type { UserProps } from './profile.tsx';
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

interface HelpProps extends UserProps {
  readonly plan: Plan;
}

type State = 'ready' | 'busy' | 'failed' | 'over';

const HelpDialog = (props: HelpProps) => {
  const { plan, user } = props;
  const { steps, results, state, why, said, run } = useSteps(props);
  const address = [confirmAddress, replaceAddress].find((step) => steps.includes(step));
  const asksAddress = address && results.length <= steps.indexOf(address);
  const list = <StepList steps={steps} results={results} state={state} why={why} />;
  return (
    <Dialog title={plan.title}>
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
          failed={`Step ${results.length + 1} has failed`}
          submit={state === 'failed' ? 'Go on' : 'Begin'}
          isDangerous
          beside={beside[state]}
        >
          {list}
          {asksAddress && <AddressOf user={user} isKept={address === confirmAddress} />}
          {state === 'ready' && <p class="muted">Make sure that you know who asks.</p>}
        </Form>
      )}
    </Dialog>
  );
};

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
      <label>
        <input type="checkbox" required /> I know, and not from a mail, that this address is the
        user’s
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
  /** Why the step after them has failed. */
  readonly why: string;
}

/** The steps, each with its state. While some are left, it asks before they are left as they are. */
const StepList = ({ steps, results, state, why }: StepListProps) => {
  useAsk(() =>
    state === 'busy' || state === 'failed'
      ? `${counted(results.length, 'step')} of ${steps.length} done. Leave the others as they are?`
      : undefined,
  );
  return (
    <ol>
      {steps.map(({ title, text }, index) => (
        <ActionRow
          key={title}
          name={`${index + 1}. ${title}`}
          text={results[index] ?? (index === results.length && state === 'failed' ? why : text)}
        >
          {index < results.length && <Badge kind="good">Done</Badge>}
          {index === results.length && state === 'failed' && <Badge kind="bad">Failed</Badge>}
          {index === results.length && state === 'busy' && <Badge>Now</Badge>}
        </ActionRow>
      ))}
    </ol>
  );
};

/** Does one step after another, from the first that is not done. Once the dialog is left, it begins none. */
const useSteps = ({ plan, user, changed }: HelpProps) => {
  const steps = stepsOf(plan, user);
  const [results, setResults] = useState<readonly string[]>([]);
  const [state, setState] = useState<State>('ready');
  const [why, setWhy] = useState('');
  const email = useRef(user.email);
  const isLeft = useRef(false);
  const standing = ({ length }: readonly string[]): string => {
    const isHeld = isHeldAfter(steps.slice(0, length), user);
    return `${length} of ${counted(steps.length, 'step')} done.${isHeld ? ' The user stays suspended.' : ''}`;
  };
  const leave = useRef(() => {});
  leave.current = () => {
    isLeft.current = true;
    if (state === 'failed') tell(standing(results), '');
  };
  useEffect(() => () => leave.current(), []);
  const doRest = async (so: string[]) => {
    for (const step of steps.slice(so.length)) {
      if (isLeft.current) return;
      so.push(await step.act(user, email.current));
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
      setState('failed');
      setWhy(failureOf(error).said);
      throw error;
    } finally {
      if (isLeft.current) tell(standing(so), '');
      await changed();
    }
  };
  const said = {
    ready: '',
    busy: `Step ${results.length + 1} of ${steps.length}: ${steps[results.length]?.title}…`,
    failed: `${standing(results)} Go on, or do by hand what is left.`,
    over: ['All steps are done.', ...plan.left(user)].filter(Boolean).join(' '),
  }[state];
  return { steps, results, state, why, said, run };
};

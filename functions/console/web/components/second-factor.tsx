/** One's own second factor: codes of an authenticator app, and recovery codes. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { api, send } from '../api.ts';
import type { SecondFactorEnrolment } from '../contract.d.ts';
import { counted } from '../format.ts';
import { useAction, useLoad } from '../loading.ts';
import { Dialog } from './dialog.tsx';
import { Field, Form, PasswordField } from './form.tsx';
import { Busy, FailureNotice, tell } from './notice.tsx';
import { Card } from './screen.tsx';
import { CopyButton } from './text.tsx';

interface CodeProps {
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly hint?: string;
}

/** The field for a code. */
export const CodeField = (props: CodeProps) => (
  <Field
    {...props}
    label="Code"
    input={{ required: true, autoComplete: 'one-time-code', spellcheck: false }}
  />
);

type Deed = 'Set up' | 'New recovery codes' | 'Remove';

interface StepProps {
  readonly deed: Deed;
  readonly done: (codes?: readonly string[]) => void;
  readonly cancel: () => void;
}

/** The password and, where there is a factor already, a code. */
const Confirm = ({
  deed,
  done,
  cancel,
  enrol,
}: StepProps & { enrol: (made: SecondFactorEnrolment) => void }) => {
  const [currentPassword, setCurrentPassword] = useState('');
  const [code, setCode] = useState('');
  const action = useAction(async () => {
    const body = { currentPassword, code };
    if (deed === 'Set up') return enrol(await send(api.POST('/api/second-factor', { body })));
    if (deed === 'Remove') {
      await send(api.POST('/api/second-factor/removals', { body }));
      return done();
    }
    const made = await send(api.POST('/api/second-factor/recovery-codes', { body }));
    done(made.recoveryCodes);
  });
  return (
    <Form
      action={action}
      failed="It was not done"
      submit={deed}
      isDangerous={deed === 'Remove'}
      cancel={cancel}
    >
      <PasswordField
        label="Current password"
        value={currentPassword}
        onValue={setCurrentPassword}
        autoComplete="current-password"
      />
      {deed !== 'Set up' && <CodeField value={code} onValue={setCode} />}
    </Form>
  );
};

const Enrol = ({
  made,
  done,
  cancel,
}: Omit<StepProps, 'deed'> & { made: SecondFactorEnrolment }) => {
  const [code, setCode] = useState('');
  const action = useAction(async () => {
    done((await send(api.PUT('/api/second-factor', { body: { code } }))).recoveryCodes);
  });
  return (
    <Form action={action} failed="It was not set up" submit="Confirm the code" cancel={cancel}>
      <p>
        Type this secret into your authenticator app, or <a href={made.uri}>open the app</a> on this
        device.
      </p>
      <Secret text={made.secret} label="Copy the secret" />
      <CodeField value={code} onValue={setCode} hint="Six digits, which the app shows." />
    </Form>
  );
};

const Secret = ({ text, label }: { text: string; label: string }) => (
  <div>
    <pre>{text}</pre>
    <CopyButton text={text} label={label} />
  </div>
);

const RecoveryCodes = ({ codes, close }: { codes: readonly string[]; close: () => void }) => (
  <>
    <p>
      Keep these recovery codes in a safe place: each replaces the app once. They are shown only
      now.
    </p>
    <Secret text={codes.join('\n')} label="Copy the codes" />
    <button type="button" class="primary" onClick={close}>
      I have kept them
    </button>
  </>
);

const Steps = ({ deed, close }: { deed: Deed; close: () => void }) => {
  const [made, setMade] = useState<SecondFactorEnrolment>();
  const [codes, setCodes] = useState<readonly string[]>();
  const done = (given?: readonly string[]) => {
    tell(deed === 'Remove' ? 'The second factor is removed.' : 'The second factor is set up.');
    if (given) setCodes(given);
    else close();
  };
  let step: ComponentChildren;
  if (codes) step = <RecoveryCodes codes={codes} close={close} />;
  else if (made) step = <Enrol made={made} done={done} cancel={close} />;
  else step = <Confirm deed={deed} done={done} cancel={close} enrol={setMade} />;
  return (
    <Dialog title={`Second factor: ${deed.toLowerCase()}`} close={close}>
      {step}
    </Dialog>
  );
};

/** Whether one has a second factor, and what can be done about it. */
export const SecondFactor = () => {
  const { data, failure, isBusy, reload } = useLoad('second factor', () =>
    send(api.GET('/api/second-factor')),
  );
  const [deed, setDeed] = useState<Deed>();
  const close = () => {
    setDeed(undefined);
    reload();
  };
  const deeds: readonly Deed[] = data?.enabled ? ['New recovery codes', 'Remove'] : ['Set up'];
  return (
    <Card title="Second factor">
      <FailureNotice what="It could not be loaded" failure={failure} retry={reload} />
      {!data && isBusy && <Busy label="Loading the second factor…" />}
      {data && (
        <>
          <p>
            {data.enabled
              ? `Signing in asks for a code too. ${counted(data.recovery_codes_left, 'recovery code')} left.`
              : 'Signing in asks for your password alone. With an authenticator app it asks for a code too.'}
          </p>
          <div class="actions">
            {deeds.map((each) => (
              <button key={each} type="button" onClick={() => setDeed(each)}>
                {each}
              </button>
            ))}
          </div>
        </>
      )}
      {deed && <Steps deed={deed} close={close} />}
    </Card>
  );
};

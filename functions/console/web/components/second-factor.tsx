/** The second factor: of whoever is signed in, and as admins see that of others. */
import { correction, generate } from 'lean-qr';
import { toSvgPath } from 'lean-qr/extras/svg';
import { useState } from 'preact/hooks';
import { api, send, settings } from '../api.ts';
import { counted } from '../format.ts';
import { type Action, useAction, useLoad } from '../loading.ts';
import { signedIn } from '../session.ts';
import { Dialog } from './dialog.tsx';
import { Field, Form, PasswordField } from './form.tsx';
import { Busy, FailureNotice, tell } from './notice.tsx';
import { CopyButton } from './text.tsx';

interface CodeFieldProps {
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly fault?: string | undefined;
  readonly hint?: string;
}

/** A code of the app, or a recovery code. */
export const CodeField = ({
  hint = 'From the app, or a recovery code.',
  ...rest
}: CodeFieldProps) => (
  <Field
    {...rest}
    label="Code"
    hint={hint}
    input={{
      name: 'code',
      autoComplete: 'one-time-code',
      required: true,
      spellcheck: false,
      autocapitalize: 'off',
      inputMode: 'text',
    }}
  />
);

const OwnPassword = (props: Pick<CodeFieldProps, 'value' | 'onValue'>) => (
  <>
    {/* Password managers find the password by it. */}
    <input
      hidden
      readOnly
      type="text"
      autoComplete="username"
      value={signedIn.get().session?.email ?? ''}
    />
    <PasswordField {...props} label="Current password" autoComplete="current-password" />
  </>
);

/** Light squares around the code, by which scanners find it. */
const margin = 4;

const QrCode = ({ text }: { text: string }) => {
  const code = generate(text, { minCorrectionLevel: correction.M });
  const size = code.size + 2 * margin;
  return (
    <svg
      class="qr"
      viewBox={`${-margin} ${-margin} ${size} ${size}`}
      role="img"
      aria-label="The secret as a QR code"
      shape-rendering="crispEdges"
    >
      <rect x={-margin} y={-margin} width={size} height={size} fill="#fff" />
      <path d={toSvgPath(code)} fill="#000" />
    </svg>
  );
};

/** The recovery codes, which nobody can show again. */
const RecoveryCodes = ({ codes, done }: { codes: readonly string[]; done: () => void }) => {
  const text = `${codes.join('\n')}\n`;
  return (
    <>
      <p>
        <strong>Keep these recovery codes.</strong> Each lets you sign in once without the app. They
        are not shown again.
      </p>
      <ul class="codes">
        {codes.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ul>
      <div class="actions">
        <button type="button" class="primary" onClick={done}>
          I have kept them
        </button>
        <a
          class="button"
          download="recovery-codes.txt"
          href={`data:text/plain;charset=utf-8,${encodeURIComponent(text)}`}
        >
          Download
        </a>
        <CopyButton text={text} label="Copy the recovery codes" />
      </div>
    </>
  );
};

interface Enrolment {
  readonly secret: string;
  readonly uri: string;
}

const Confirm = ({ secret, uri, done }: Enrolment & { done: (codes: string[]) => void }) => {
  const [code, setCode] = useState('');
  const action = useAction(async () => {
    const { recoveryCodes } = await send(api.PUT('/api/second-factor', { body: { code } }));
    done(recoveryCodes);
  });
  return (
    <Form action={action} failed="The second factor is not enabled" submit="Enable">
      <p>Scan this with an authenticator app, or type the secret into it, within ten minutes.</p>
      <QrCode text={uri} />
      <p>
        <code class="secret">{secret.match(/.{1,4}/g)?.join(' ')}</code>{' '}
        <CopyButton text={secret} label="Copy the secret" />
      </p>
      <CodeField
        value={code}
        onValue={setCode}
        fault={action.failure?.faults.code}
        hint="Six digits, which the app shows now."
      />
    </Form>
  );
};

const Begin = ({ done }: { done: (enrolment: Enrolment) => void }) => {
  const [currentPassword, setCurrentPassword] = useState('');
  const action = useAction(async () => {
    done(await send(api.POST('/api/second-factor', { body: { currentPassword } })));
  });
  return (
    <Form action={action} failed="Nothing was begun" submit="Set up an app">
      <p>
        {settings.secondFactor === 'admins'
          ? 'Admins need a second factor: until you have one, you may do only what a user may.'
          : 'With a second factor, nobody signs in with your password alone.'}
      </p>
      <OwnPassword value={currentPassword} onValue={setCurrentPassword} />
    </Form>
  );
};

interface ChangeProps {
  readonly title: string;
  readonly text: string;
  readonly change: (body: { currentPassword: string; code: string }) => Promise<void>;
  readonly close: () => void;
}

/** A change of the own factor, which takes password and code. */
const Change = ({ title, text, change, close }: ChangeProps) => {
  const [currentPassword, setCurrentPassword] = useState('');
  const [code, setCode] = useState('');
  const action: Action<[]> = useAction(() => change({ currentPassword, code }));
  return (
    <Dialog title={title} close={close}>
      <Form action={action} failed="Nothing was changed" submit={title} cancel={close} isDangerous>
        <p>{text} Your other sessions end.</p>
        <OwnPassword value={currentPassword} onValue={setCurrentPassword} />
        <CodeField value={code} onValue={setCode} fault={action.failure?.faults.code} />
      </Form>
    </Dialog>
  );
};

interface EnabledProps {
  readonly left: number;
  readonly renewed: (codes: string[]) => void;
  readonly removed: () => void;
}

const Enabled = ({ left, renewed, removed }: EnabledProps) => {
  const [open, setOpen] = useState<'renew' | 'remove'>();
  const close = () => setOpen(undefined);
  const renew: ChangeProps['change'] = async (body) => {
    const response = await send(api.POST('/api/second-factor/recovery-codes', { body }));
    close();
    renewed(response.recoveryCodes);
  };
  const remove: ChangeProps['change'] = async (body) => {
    await send(api.POST('/api/second-factor/removals', { body }));
    close();
    removed();
  };
  return (
    <>
      <p>It is enabled. {counted(left, 'recovery code')} left.</p>
      <div class="actions">
        <button type="button" onClick={() => setOpen('renew')}>
          Make new recovery codes
        </button>
        <button type="button" class="danger" onClick={() => setOpen('remove')}>
          Remove
        </button>
      </div>
      {open === 'renew' && (
        <Change
          title="Make new recovery codes"
          text="The earlier ones become void."
          change={renew}
          close={close}
        />
      )}
      {open === 'remove' && (
        <Change
          title="Remove the second factor"
          text="Your password alone signs you in then."
          change={remove}
          close={close}
        />
      )}
    </>
  );
};

/** The second factor of whoever is signed in. A change of it ends the other sessions. */
export const OwnFactor = ({ changed }: { changed: () => void }) => {
  const { data, failure, isBusy, reload } = useLoad('own factor', () =>
    send(api.GET('/api/second-factor')),
  );
  const [enrolment, setEnrolment] = useState<Enrolment>();
  const [codes, setCodes] = useState<readonly string[]>();
  const show = (fresh: readonly string[]) => {
    setEnrolment(undefined);
    setCodes(fresh);
    reload();
    changed();
  };
  if (codes) return <RecoveryCodes codes={codes} done={() => setCodes(undefined)} />;
  if (enrolment) return <Confirm {...enrolment} done={show} />;
  if (!data) {
    return isBusy ? (
      <Busy label="Loading your second factor…" />
    ) : (
      <FailureNotice
        what="Your second factor could not be loaded"
        failure={failure}
        retry={reload}
      />
    );
  }
  if (!data.enabled) return <Begin done={setEnrolment} />;
  const removed = () => {
    tell('The second factor is removed.');
    reload();
    changed();
  };
  return <Enabled left={data.recovery_codes_left} renewed={show} removed={removed} />;
};

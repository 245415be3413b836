/** The second factor of whoever is signed in. */
import { correction, generate } from 'lean-qr';
import { toSvgPath } from 'lean-qr/extras/svg';
import { useState } from 'preact/hooks';
import { api, send, settings } from '../api.ts';
import type {
  CodeConfirmation,
  PasswordAndCode,
  PasswordConfirmation,
  SecondFactorEnrolment,
  UserDetails,
} from '../contract.d.ts';
import { counted } from '../format.ts';
import { useLoad } from '../loading.ts';
import { signedIn } from '../session.ts';
import { CurrentPassword, Field, Form, FormDialog, UserNameOf } from './form.tsx';
import { Loaded, tell } from './notice.tsx';
import type { Changed } from './profile.tsx';
import { CopyButton } from './text.tsx';

/** A code of the app, or a recovery code. */
export const CodeField = ({ hint = 'From the app, or a recovery code.' }: { hint?: string }) => (
  <Field
    label="Code"
    name="code"
    hint={hint}
    autoComplete="one-time-code"
    required
    spellcheck={false}
    autocapitalize="off"
    inputMode="text"
  />
);

/** The password of whoever is signed in, with the address for password managers. */
const OwnPassword = () => (
  <>
    <UserNameOf email={signedIn.get().session?.email ?? ''} />
    <CurrentPassword />
  </>
);

/** Confirms a change of how one logs in: by the password, and a code if one has a second factor. */
export const Confirmation = ({ user }: { user: UserDetails }) => (
  <>
    <OwnPassword />
    {user.second_factor?.enabled && <CodeField />}
  </>
);

/** Light squares around the code, by which scanners find it. */
const margin = 4;

const QrCode = ({ text }: { text: string }) => {
  const code = generate(text, { minCorrectionLevel: correction.M });
  const size = code.size + 2 * margin;
  return (
    <svg
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
      <ul class="columns">
        {codes.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ul>
      <div class="row">
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

type ShowCodes = (response: { recoveryCodes: readonly string[] }) => void;

const Confirm = ({ secret, uri, done }: SecondFactorEnrolment & { done: ShowCodes }) => (
  <Form
    act={async (body: CodeConfirmation) =>
      done(await send(api.PUT('/api/second-factor', { body })))
    }
    failed="The second factor is not enabled"
    submit="Enable"
  >
    <p>Scan this with an authenticator app, or type the secret into it, within ten minutes.</p>
    <QrCode text={uri} />
    <p>
      <code>{secret.match(/.{1,4}/g)?.join(' ')}</code>{' '}
      <CopyButton text={secret} label="Copy the secret" />
    </p>
    <CodeField hint="Six digits, which the app shows now." />
  </Form>
);

const Begin = ({ done }: { done: (enrolment: SecondFactorEnrolment) => void }) => (
  <Form
    act={async (body: PasswordConfirmation) =>
      done(await send(api.POST('/api/second-factor', { body })))
    }
    failed="No app was set up"
    submit="Set up an app"
  >
    <p>
      {settings.secondFactor === 'admins'
        ? 'Admins and auditors need a second factor: until you have one, you may do only what a user may.'
        : 'With a second factor, nobody signs in with your password alone.'}
    </p>
    <OwnPassword />
  </Form>
);

/** The changes of one's own factor, which take password and code. */
const changes = {
  renew: {
    title: 'Make new recovery codes',
    text: 'The earlier ones become void.',
    send: (body: PasswordAndCode) => send(api.POST('/api/second-factor/recovery-codes', { body })),
  },
  remove: {
    title: 'Remove the second factor',
    text: 'Your password alone signs you in then.',
    send: async (body: PasswordAndCode) => {
      await send(api.POST('/api/second-factor/removals', { body }));
      tell('The second factor is removed.');
      return undefined;
    },
  },
};

interface EnabledProps {
  readonly left: number;
  /** Called after a change, with the new recovery codes. */
  readonly done: (renewed?: { recoveryCodes: readonly string[] }) => void;
}

const Enabled = ({ left, done }: EnabledProps) => {
  const [open, setOpen] = useState<keyof typeof changes>();
  const close = () => setOpen(undefined);
  const change = open && changes[open];
  return (
    <>
      <p>It is enabled. {counted(left, 'recovery code')} left.</p>
      <div class="row">
        <button type="button" onClick={() => setOpen('renew')}>
          Make new recovery codes
        </button>
        <button type="button" class="danger" onClick={() => setOpen('remove')}>
          Remove
        </button>
      </div>
      {change && (
        <FormDialog
          title={change.title}
          act={async (body: PasswordAndCode) => done(await change.send(body))}
          failed="Nothing was changed"
          isDangerous
          close={close}
        >
          <p>{change.text} Your other sessions end.</p>
          <OwnPassword />
          <CodeField />
        </FormDialog>
      )}
    </>
  );
};

/** The second factor of whoever is signed in. A change of it ends the other sessions. */
export const OwnFactor = ({ changed }: { changed: Changed }) => {
  const factor = useLoad('own factor', () => send(api.GET('/api/second-factor')));
  const [enrolment, setEnrolment] = useState<SecondFactorEnrolment>();
  const [codes, setCodes] = useState<readonly string[]>();
  const done: EnabledProps['done'] = (renewed) => {
    setEnrolment(undefined);
    setCodes(renewed?.recoveryCodes);
    void factor.reload();
    void changed();
  };
  if (codes) return <RecoveryCodes codes={codes} done={() => setCodes(undefined)} />;
  if (enrolment) return <Confirm {...enrolment} done={done} />;
  return (
    <Loaded what="The second factor" from={factor}>
      {({ enabled, recovery_codes_left: left }) =>
        enabled ? <Enabled left={left} done={done} /> : <Begin done={setEnrolment} />
      }
    </Loaded>
  );
};

import { correction, generate } from 'lean-qr';
import { toSvgPath } from 'lean-qr/extras/svg';
import { useState } from 'preact/hooks';
import type {
  CodeConfirmation,
  RecoveryCodes as Codes,
  PasswordAndCode,
  PasswordConfirmation,
  SecondFactorEnrolment,
} from '../../../client/paths.ts';
import { api, send, settings } from '../api.ts';
import { counted } from '../format.ts';
import { useLoad } from '../loading.ts';
import { Button } from './button.tsx';
import { openDialog } from './dialog.tsx';
import { CodeField, Form, FormDialog } from './form.tsx';
import { Loaded, tell } from './notice.tsx';
import type { UserProps } from './profile.tsx';
import { CopyButton } from './text.tsx';
import { OwnPassword } from './ways.tsx';

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

const RecoveryCodes = ({ codes, done }: { codes: readonly string[]; done: () => void }) => {
  const text = `${codes.join('\n')}\n`;
  return (
    <>
      <p>
        <strong>Keep these recovery codes.</strong> Each lets you sign in once without the app. They
        are not shown again.
      </p>
      <pre>{text}</pre>
      <div class="row">
        <Button class="primary" onClick={done}>
          I have kept them
        </Button>
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

const Confirm = ({
  secret,
  uri,
  done,
}: SecondFactorEnrolment & { done: (codes: Codes) => void }) => (
  <Form
    act={(body: CodeConfirmation) => send(api.PUT('/api/second-factor', { body })).then(done)}
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
    act={(body: PasswordConfirmation) => send(api.POST('/api/second-factor', { body })).then(done)}
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

/** Asks before a change of the signed-in user's factor, which requires password and code. */
const ask = (title: string, text: string, act: (body: PasswordAndCode) => Promise<void>): void =>
  openDialog(
    <FormDialog title={title} act={act} failed="Nothing was changed" isDangerous>
      <p>{text} Your other sessions end.</p>
      <OwnPassword />
      <CodeField />
    </FormDialog>,
  );

/** @param done is called after a change, with the new recovery codes */
const Enabled = ({ left, done }: { left: number; done: (renewed?: Codes) => void }) => {
  const renew = () =>
    ask('Make new recovery codes', 'The earlier ones become void.', async (body) =>
      done(await send(api.POST('/api/second-factor/recovery-codes', { body }))),
    );
  const remove = () =>
    ask('Remove the second factor', 'Your password alone signs you in then.', async (body) => {
      await send(api.POST('/api/second-factor/removals', { body }));
      tell('The second factor is removed.');
      done();
    });
  return (
    <>
      <p>It is enabled. {counted(left, 'recovery code')} left.</p>
      <div class="row">
        <Button onClick={renew}>Make new recovery codes</Button>
        <Button class="danger" onClick={remove}>
          Remove
        </Button>
      </div>
    </>
  );
};

/** The second factor of the signed-in user. A change of it ends the other sessions. */
export const OwnFactor = ({ changed }: Pick<UserProps, 'changed'>) => {
  const factor = useLoad('own factor', () => send(api.GET('/api/second-factor')));
  const [enrolment, setEnrolment] = useState<SecondFactorEnrolment>();
  const [codes, setCodes] = useState<readonly string[]>();
  const done = (renewed?: Codes) => {
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

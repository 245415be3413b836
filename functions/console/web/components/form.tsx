/** Forms, whose fields keep the typed text: a form reads them when it is sent. */
import {
  type ComponentChildren,
  createContext,
  type InputHTMLAttributes,
  type PartialInputHTMLAttributes,
  type PartialSelectHTMLAttributes,
} from 'preact';
import { useContext, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { type ConsoleError, settings } from '../api.ts';
import { useAsk } from '../leaving.ts';
import { useAction } from '../loading.ts';
import { Button } from './button.tsx';
import { closeDialog, Dialog, opened } from './dialog.tsx';
import { FailureNotice, tell, useCountdown } from './notice.tsx';

const FormFailure = createContext<ConsoleError | undefined>(undefined);

interface FieldProps extends PartialInputHTMLAttributes<HTMLInputElement> {
  readonly label: string;
  readonly name: string;
  /** The id of the list of its usual values. */
  readonly list?: string;
  readonly hint?: ComponentChildren;
  readonly button?: ComponentChildren;
}

/**
 * A labelled input with its hint, and with the fault that the service has found. The first input of a form with
 * a fault gets the focus.
 */
export const Field = ({ label, hint, button, ...input }: FieldProps) => {
  const id = useId();
  const element = useRef<HTMLInputElement>(null);
  const failure = useContext(FormFailure);
  const fault = failure?.faults[input.name];
  useLayoutEffect(() => {
    const { form } = element.current ?? {};
    if (fault) form?.querySelector<HTMLElement>('[aria-invalid]')?.focus();
  }, [failure]);
  const described = [hint && `${id}-hint`, fault && `${id}-fault`].filter(Boolean).join(' ');
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        type="text"
        {...(input as InputHTMLAttributes<HTMLInputElement>)}
        ref={element}
        id={id}
        aria-invalid={fault ? 'true' : undefined}
        aria-describedby={described || input['aria-describedby']}
      />
      {button}
      {hint && (
        <p class="muted" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {fault && (
        <p class="bad" id={`${id}-fault`}>
          {fault}
        </p>
      )}
    </div>
  );
};

/** An address. Browsers refuse, or change, some addresses in inputs of the type email that the service allows. */
export const AddressField = (props: Partial<FieldProps>) => (
  <Field
    label="Email address"
    name="email"
    inputMode="email"
    autocapitalize="off"
    spellcheck={false}
    required
    {...props}
  />
);

/** A password, which can be shown while it is typed. */
export const PasswordField = (props: Omit<FieldProps, 'button' | 'type'>) => {
  const [isShown, setShown] = useState(false);
  const show = (
    <Button class="quiet small" aria-pressed={isShown} onClick={() => setShown(!isShown)}>
      Show
    </Button>
  );
  const type = isShown ? 'text' : 'password';
  return <Field required spellcheck={false} {...props} type={type} button={show} />;
};

export const CurrentPassword = (props: Partial<FieldProps>) => (
  <PasswordField
    label="Current password"
    name="currentPassword"
    autoComplete="current-password"
    {...props}
  />
);

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

/** The user name that password managers keep with the password of a form. */
export const UserNameOf = ({ email }: { email: string }) => (
  <input hidden readOnly type="text" autoComplete="username" value={email} />
);

export interface SelectProps
  extends Omit<PartialSelectHTMLAttributes<HTMLSelectElement>, 'role' | 'size'> {
  readonly label: string;
  readonly name: string;
  readonly defaultValue?: string;
  /** The texts by their values; a map keeps its order even if the values are numbers. */
  readonly options: Readonly<Record<string, string>> | Map<string, string>;
}

export const Select = ({ label, defaultValue, options, ...select }: SelectProps) => {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select {...select} id={id}>
        {(options instanceof Map ? [...options] : Object.entries(options)).map(([value, text]) => (
          <option key={value} value={value} {...{ defaultSelected: value === defaultValue }}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
};

export const MailLanguage = () => (
  <Select
    label="Language of the mail"
    name="language"
    defaultValue={settings.mailLanguage}
    options={{ en: 'English', de: 'German' }}
  />
);

interface FormProps<Values> {
  /** The action of the form, with the values of its fields by their names. */
  readonly act: (values: Values) => Promise<unknown>;
  /** Gets the values even if the form is sent again during its action, when sending has no other effect. */
  readonly onSend?: (values: Values) => void;
  /** The message of the form when it fails, such as `The user was not created`. */
  readonly failed: string;
  readonly submit: string;
  readonly isDangerous?: boolean;
  readonly beside?: ComponentChildren;
  /** More fields, below the button. */
  readonly below?: ComponentChildren;
  readonly class?: string;
  /** When it changes, the fields forget the typed text. */
  readonly resetOn?: unknown;
  /** Whether it changes nothing, so that users may leave it with typed text without being asked. */
  readonly isQuery?: boolean;
  readonly children?: ComponentChildren;
}

/** Whether the value of a field differs from its first value. Browsers fill in current passwords themselves. */
const isChanged = (field: Element): boolean => {
  if (field instanceof HTMLSelectElement) {
    const first = [...field.options].findIndex(({ defaultSelected }) => defaultSelected);
    return field.selectedIndex !== Math.max(0, first);
  }
  if (!(field instanceof HTMLInputElement) || field.readOnly) return false;
  if (field.type === 'checkbox') return field.checked !== field.defaultChecked;
  return field.autocomplete !== 'current-password' && field.value !== field.defaultValue;
};

/** A form with the button that sends it and, below it, its failure. */
export const Form = <Values,>({ act, failed, submit, children, ...rest }: FormProps<Values>) => {
  const form = useRef<HTMLFormElement>(null);
  // Not `rest` itself: effects outlive a rendering, and would keep the elements of `beside` in memory.
  const { onSend, resetOn, isQuery } = rest;
  const { run, isBusy, failure } = useAction(act);
  // A mail to another address may be sent at once.
  const isWaiting = failure !== undefined && failure.code !== 'MAILS_LIMITED';
  const wait = useCountdown(isWaiting ? failure.mayRetryAt : 0);
  // A dialog may continue with another form.
  useLayoutEffect(() => {
    form.current?.closest('dialog')?.querySelector<HTMLElement>('input:not([hidden])')?.focus();
  }, []);
  useLayoutEffect(() => form.current?.reset(), [resetOn]);
  useAsk((part) => {
    const { current } = form;
    const isLost = current && part.contains(current) && [...current.elements].some(isChanged);
    return isLost && !isQuery ? 'What you have typed is not saved. Leave it?' : undefined;
  });
  return (
    <form
      ref={form}
      class={rest.class}
      onSubmit={(event) => {
        event.preventDefault();
        const values = Object.fromEntries(new FormData(event.currentTarget, event.submitter));
        onSend?.(values as Values);
        tell('');
        if (wait === 0) void run(values as Values);
      }}
    >
      <FormFailure.Provider value={failure}>{children}</FormFailure.Provider>
      <div class="row">
        <button
          type="submit"
          class={rest.isDangerous ? 'danger' : 'primary'}
          aria-disabled={wait > 0}
          aria-busy={isBusy}
        >
          {submit}
        </button>
        {rest.beside}
      </div>
      <FormFailure.Provider value={failure}>{rest.below}</FormFailure.Provider>
      <FailureNotice what={failed} failure={failure} />
    </form>
  );
};

export const Cancel = () => <Button onClick={closeDialog}>Cancel</Button>;

export interface FormDialogProps<Values> extends Omit<FormProps<Values>, 'beside' | 'submit'> {
  readonly title: ComponentChildren;
  /** The text of the button. Absent: the title, as text. */
  readonly submit?: string;
}

/** A dialog with a form, which closes once the form's action has succeeded. */
export const FormDialog = <Values,>({ title, act, ...form }: FormDialogProps<Values>) => {
  const actAndClose = async (values: Values) => {
    const own = opened.get();
    await act(values);
    // Another dialog may have been opened meanwhile.
    if (opened.get() === own) closeDialog();
  };
  return (
    <Dialog title={title}>
      <Form submit={String(title)} {...form} act={actAndClose} beside={<Cancel />} />
    </Dialog>
  );
};

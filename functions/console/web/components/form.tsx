import type { ComponentChildren, InputHTMLAttributes } from 'preact';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Action } from '../loading.ts';
import { FailureNotice, useCountdown } from './notice.tsx';

interface FieldProps {
  readonly label: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly hint?: ComponentChildren;
  /** What is wrong with the value. */
  readonly fault?: string | undefined;
  readonly input?: InputHTMLAttributes;
  /** A button that belongs to the input. */
  readonly button?: ComponentChildren;
}

/** A labelled input with its hint and its fault. */
export const Field = ({ label, value, onValue, hint, fault, input, button }: FieldProps) => {
  const id = useId();
  const described = [hint && `${id}-hint`, fault && `${id}-fault`].filter(Boolean).join(' ');
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        type="text"
        {...input}
        id={id}
        value={value}
        onInput={({ currentTarget }) => onValue(currentTarget.value)}
        aria-invalid={fault ? 'true' : undefined}
        aria-describedby={described || undefined}
      />
      {button}
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {fault && (
        <p class="fault" id={`${id}-fault`}>
          {fault}
        </p>
      )}
    </div>
  );
};

interface PasswordProps extends Omit<FieldProps, 'button'> {
  readonly autoComplete: 'current-password' | 'new-password';
}

/** A password, which one may look at while one types it. */
export const PasswordField = ({ autoComplete, input, ...rest }: PasswordProps) => {
  const [isShown, setShown] = useState(false);
  const given = { required: true, spellcheck: false, ...input, autoComplete };
  return (
    <Field
      {...rest}
      input={(isShown ? given : { ...given, type: 'password' }) as InputHTMLAttributes}
      button={
        <button
          type="button"
          class="quiet small"
          aria-pressed={isShown}
          onClick={() => setShown(!isShown)}
        >
          Show
        </button>
      }
    />
  );
};

interface SelectProps<Value extends string> {
  readonly label: string;
  readonly value: Value;
  readonly onValue: (value: Value) => void;
  /** What is shown for each value. */
  readonly options: Readonly<Record<Value, string>>;
}

/** A labelled choice of one of several values. */
export const Select = <Value extends string>(props: SelectProps<Value>) => {
  const { label, value, onValue, options } = props;
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select
        id={id}
        value={value}
        onChange={({ currentTarget }) => onValue(currentTarget.value as Value)}
      >
        {Object.entries<string>(options).map(([each, text]) => (
          <option key={each} value={each}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
};

interface FormProps {
  readonly action: Action<[]>;
  /** What it says when it fails, such as `The user was not created`. */
  readonly failed: string;
  readonly submit: string;
  readonly isDangerous?: boolean;
  readonly isDisabled?: boolean;
  /** Closes what the form stands in. */
  readonly cancel?: (() => void) | undefined;
  readonly children: ComponentChildren;
}

/**
 * A form with the button that sends it and, below it, its failure, which keeps what was typed. The
 * focus goes to the first field with a fault.
 */
export const Form = ({ action, failed, submit, children, ...rest }: FormProps) => {
  const wait = useCountdown(action.failure?.mayRetryAt ?? 0);
  const form = useRef<HTMLFormElement>(null);
  useLayoutEffect(() => {
    // A dialog may go on with another form.
    form.current?.closest('dialog')?.querySelector<HTMLElement>('input:not([hidden])')?.focus();
  }, []);
  useLayoutEffect(() => {
    form.current?.querySelector<HTMLInputElement>('[aria-invalid]')?.focus();
  }, [action.failure]);
  return (
    <form
      ref={form}
      onSubmit={(event) => {
        event.preventDefault();
        if (wait === 0 && !rest.isDisabled) void action.run();
      }}
    >
      {children}
      <div class="actions">
        <button
          type="submit"
          class={rest.isDangerous ? 'danger' : 'primary'}
          disabled={rest.isDisabled}
          aria-disabled={wait > 0}
          aria-busy={action.isBusy}
        >
          {submit}
        </button>
        {rest.cancel && (
          <button type="button" onClick={rest.cancel}>
            Cancel
          </button>
        )}
      </div>
      <FailureNotice what={failed} failure={action.failure} />
    </form>
  );
};

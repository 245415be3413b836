import type { ComponentChildren, InputHTMLAttributes } from 'preact';
import { useId } from 'preact/hooks';
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
}

/** A labelled input with its hint and its fault. */
export const Field = ({ label, value, onValue, hint, fault, input }: FieldProps) => {
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

/** A form with its failure, which keeps what was typed, and the button that sends it. */
export const Form = ({ action, failed, submit, children, ...rest }: FormProps) => {
  const wait = useCountdown(action.failure?.mayRetryAt ?? 0);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (wait === 0 && !rest.isDisabled) void action.run();
      }}
    >
      {children}
      <FailureNotice what={failed} failure={action.failure} />
      <div class="actions">
        <button
          type="submit"
          class={rest.isDangerous ? 'danger' : 'primary'}
          disabled={wait > 0 || rest.isDisabled}
          aria-disabled={action.isBusy}
        >
          {action.isBusy && <span class="spinner" aria-hidden="true" />}
          {submit}
        </button>
        {rest.cancel && (
          <button type="button" onClick={rest.cancel}>
            Cancel
          </button>
        )}
      </div>
    </form>
  );
};

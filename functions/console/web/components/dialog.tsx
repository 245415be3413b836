import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { signedIn } from '../session.ts';

interface DialogProps {
  readonly title: ComponentChildren;
  readonly close: () => void;
  readonly children: ComponentChildren;
}

/**
 * A modal dialog, open for as long as it is in the tree. Esc closes it; the browser keeps the focus
 * inside, and returns it to where it was. It gives way to the form to sign in.
 */
export const Dialog = ({ title, close, children }: DialogProps) => {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  const { isOver } = signedIn.use();
  useLayoutEffect(() => {
    const { current } = dialog;
    if (isOver || !current) return undefined;
    current.showModal();
    current.querySelector<HTMLElement>('input:not([hidden]), select')?.focus();
    return () => current.close();
  }, [isOver]);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        close();
      }}
    >
      <header class="row apart">
        <h2 id={id}>{title}</h2>
        <button type="button" class="quiet" onClick={close} aria-label="Close">
          <span aria-hidden="true">✕</span>
        </button>
      </header>
      {children}
    </dialog>
  );
};

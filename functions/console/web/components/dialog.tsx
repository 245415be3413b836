import { type ComponentChildren, cloneElement, type VNode } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { mayLeave } from '../leaving.ts';
import { place } from '../router.ts';
import { signedIn } from '../session.ts';
import { createStore } from '../store.ts';
import { Button } from './button.tsx';

export const opened = createStore<VNode | null>(null);

/** Shows a dialog until it is closed or another place is shown. */
export const openDialog = (dialog: VNode): void => opened.set(dialog);

export const closeDialog = (): void => opened.set(null);

/** Each screen contains it once. It closes its dialog when the user leaves the place. */
export const OpenDialog = () => {
  const dialog = opened.use();
  useLayoutEffect(() => closeDialog, [place.use()]);
  // A copy, because Preact does not draw the same element again. If it is drawn with the page around it, the
  // dialog closes before the form to sign in takes the focus.
  return dialog && cloneElement(dialog);
};

/**
 * A modal dialog, open for as long as it is in the tree. Esc closes it, after a question if typed text would be lost.
 * The browser keeps the focus inside, and returns it when the dialog closes. It gives way to the form to sign in.
 */
export const Dialog = (props: { title: ComponentChildren; children: ComponentChildren }) => {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  const { isOver } = signedIn.use();
  const leave = () => {
    if (dialog.current && mayLeave(dialog.current)) closeDialog();
  };
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
        leave();
      }}
    >
      <header class="row apart">
        <h2 id={id}>{props.title}</h2>
        <Button class="quiet" onClick={leave} aria-label="Close">
          <span aria-hidden="true">✕</span>
        </Button>
      </header>
      {props.children}
    </dialog>
  );
};

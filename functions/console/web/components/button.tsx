import type { ButtonHTMLAttributes } from 'preact';

/** A button with an action of its own, which does not submit the form around it. */
export const Button = (props: ButtonHTMLAttributes) => <button type="button" {...props} />;

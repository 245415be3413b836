import type { ButtonHTMLAttributes } from 'preact';

/** A button that does something of its own, rather than send the form around it. */
export const Button = (props: ButtonHTMLAttributes) => <button type="button" {...props} />;

import type { ButtonHTMLAttributes } from 'preact';

/** Does not submit the form around it. */
export const Button = (props: ButtonHTMLAttributes) => <button type="button" {...props} />;

/** A button of a row, whose name says which row it is in. */
export const RowButton = ({
  title,
  of,
  onClick,
}: Record<'title' | 'of', string> & { onClick: () => void }) => (
  <Button class="small" aria-label={`${title} ${of}`} onClick={onClick}>
    {title}
  </Button>
);

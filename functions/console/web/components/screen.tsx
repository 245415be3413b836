import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { mark } from '../../mark.ts';
import { settings } from '../api.ts';

let isFirst = true;

interface ScreenProps {
  readonly title: string;
  /** The title if it is more than text. */
  readonly heading?: ComponentChildren;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** A screen with its title. The title gets the focus if another screen was shown before. */
export const Screen = ({ title, heading: shown = title, actions, children }: ScreenProps) => {
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => {
    if (!isFirst) heading.current?.focus();
    isFirst = false;
  }, []);
  useLayoutEffect(() => {
    document.title = `${title} · ${settings.product} console`;
  }, [title]);
  return (
    <>
      <div class="row apart">
        <h1 ref={heading} tabIndex={-1}>
          {shown}
        </h1>
        {actions && <div class="row">{actions}</div>}
      </div>
      {children}
    </>
  );
};

export const Brand = () => (
  <p class="brand">
    <img src={mark()} alt="" /> {settings.product}
  </p>
);

export const Card = ({ title, children }: { title: string; children: ComponentChildren }) => {
  const id = useId();
  return (
    <section class="card stack" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  );
};

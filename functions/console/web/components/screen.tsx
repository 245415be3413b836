import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { mark } from '../../mark.ts';
import { settings } from '../api.ts';
import { announce } from './notice.tsx';

let isFirst = true;

interface ScreenProps {
  readonly title: string;
  /** The title if it is more than text. */
  readonly heading?: ComponentChildren;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** A screen with its title. If another screen was shown before, its status is forgotten, and the title
 * gets the focus. */
export const Screen = ({ title, heading: shown = title, actions, children }: ScreenProps) => {
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => {
    if (!isFirst) heading.current?.focus();
    announce('');
    isFirst = false;
  }, []);
  useLayoutEffect(() => {
    document.title = `${title} · ${settings.product} console`;
  }, [title]);
  return (
    <>
      <div class="row apart title">
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

interface CardProps {
  readonly title: string;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}

export const Card = ({ title, actions, children }: CardProps) => {
  const id = useId();
  return (
    <section class="card stack" aria-labelledby={id}>
      <div class="row apart">
        <h2 id={id}>{title}</h2>
        {actions}
      </div>
      {children}
    </section>
  );
};

interface ActionRowProps {
  readonly name: string;
  readonly text: string;
  readonly children?: ComponentChildren;
}

export const ActionRow = ({ name, text, children }: ActionRowProps) => (
  <li class="row apart">
    <div>
      <strong>{name}</strong>
      <p class="muted">{text}</p>
    </div>
    {children}
  </li>
);

import { Fragment } from 'preact';
import { useState } from 'preact/hooks';
import { ago, localTime, utcTime } from '../format.ts';
import { now } from '../service.ts';
import { Button } from './button.tsx';
import { announce } from './notice.tsx';

/** A time on the clock of this machine, or in the form that `write` gives it, with UTC in its tooltip. */
export const Time = ({ at, write = localTime }: { at: string; write?: (at: string) => string }) => (
  <time dateTime={at} title={`${localTime(at)} · ${utcTime(at)}`}>
    {write(at)}
  </time>
);

/** How long ago a time was. */
export const Ago = ({ at }: { at: string }) => (
  <Time at={at} write={() => ago(now() - Date.parse(at))} />
);

/** An address or a URL, which may break between its parts. */
export const Whole = ({ text }: { text: string }) => (
  <bdi class="whole">
    {text.split(/(?<=[@.:/])/).map((part, index) => (
      <Fragment key={String(index)}>
        {index > 0 && <wbr />}
        {part}
      </Fragment>
    ))}
  </bdi>
);

export const Badge = (props: { kind?: 'good' | 'bad' | 'strong'; children: string }) => (
  <span class={`badge ${props.kind ?? 'muted'}`}>{props.children}</span>
);

/** Copies a text, and says whether the browser has allowed it. */
export const CopyButton = ({ text, label }: { text: string; label: string }) => {
  const [said, setSaid] = useState('');
  const say = (result: string) => {
    setSaid(result);
    announce(`${label}: ${result}`);
  };
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => say('Copied'),
      () => say('Not allowed'),
    );
  return (
    <Button class="quiet small" onClick={copy} aria-label={label}>
      {said || 'Copy'}
    </Button>
  );
};

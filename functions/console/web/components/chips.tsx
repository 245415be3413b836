import { labels, settings } from '../api.ts';
import { localTime } from '../format.ts';
import { href } from '../router.ts';
import { now } from '../service.ts';
import { presets, readState, secondsBefore, type TrailState } from '../trail/query.ts';
import { Button } from './button.tsx';
import { isOfThing, showTrail } from './filters.tsx';
import { MachineName } from './machine-name.tsx';
import { UserName } from './user-name.tsx';

/** A button for each chosen filter, which removes it. While no filter is chosen, frequent questions are shown instead. */
export const Chips = ({
  state,
  change,
}: {
  state: TrailState;
  change: (changes: Partial<TrailState>) => void;
}) => {
  const chosen = (Object.keys(titles) as Name[]).filter((name) => state[name] !== '');
  if (chosen.length === 0) return <Questions />;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for the controls of a form.
    <div class="row" role="group" aria-label="Chosen filters">
      {chosen.map((name) => (
        <Button
          key={name}
          class="small chip"
          onClick={({ currentTarget }) => {
            leave(currentTarget);
            change({ [name]: '' });
          }}
        >
          <span class="unseen">Remove filter </span>
          <span class="muted">{titles[name]}</span> <Chosen name={name} state={state} />{' '}
          <span aria-hidden="true">✕</span>
        </Button>
      ))}
      {chosen.length > 1 && <a href={href('/audit')}>Clear all</a>}
    </div>
  );
};

const Questions = () => (
  <p class="row">
    <span class="muted">Often asked:</span>
    {questions.map(([title, query, seconds]) => (
      <Button
        key={title}
        class="quiet small"
        onClick={() => showTrail(readState({ ...query, since: secondsBefore(now(), seconds) }))}
      >
        {title}
      </Button>
    ))}
  </p>
);

const questions = [
  ['Failed logins, last hour', { action: 'LOGIN', result: 'FAILURE' }, presets['Last hour']],
  ['Updates, last day', { action: 'UPDATE' }, presets['Last day']],
  ['Exports, last week', { action: 'EXPORT' }, presets['Last week']],
  // Otherwise reads leave no entries.
  ...(settings.auditDetail === 'full'
    ? [['Who read the trail, last week', { action: 'READ' }, presets['Last week']] as const]
    : []),
] as const;

const titles = {
  ...labels,
  action: 'Action',
  result: 'Result',
  reason: 'Reason',
  only: 'Only',
  from: 'Written by',
  since: 'Since',
  until: 'Until',
  order: 'Order',
} as const;
type Name = keyof typeof titles;

/** Moves the focus from a chip that goes away: to the next chip, to the chip before it, or to the search. */
const leave = (chip: HTMLElement): void => {
  const { nextElementSibling: next, previousElementSibling: before } = chip;
  const other = next instanceof HTMLButtonElement ? next : before;
  const to = other ?? document.querySelector('input[type=search]');
  if (to instanceof HTMLElement) to.focus();
};

/** The values that have other words than their own. */
const words: Readonly<Partial<Record<Name, Readonly<Record<string, string>>>>> = {
  result: { SUCCESS: 'Success', FAILURE: 'Failure' },
  only: { registrations: 'who registered themselves' },
  from: { service: 'this service', machines: 'machines' },
  order: { asc: 'oldest first' },
};

const Chosen = ({ name, state }: { readonly name: Name; readonly state: TrailState }) => {
  const value = state[name];
  const isUser = name === 'about' || name === 'userId' || name === 'resourceId';
  if (isUser && !(name === 'resourceId' && isOfThing(state)))
    return <UserName key={value} id={value} />;
  if (name === 'machineId' && /^\d+$/.test(value)) return <MachineName id={Number(value)} />;
  if (name === 'since' || name === 'until') return <>{localTime(value)}</>;
  return <bdi>{words[name]?.[value] ?? value.replaceAll('_', ' ')}</bdi>;
};

import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { utcTime } from '../format.ts';
import { useAction } from '../loading.ts';
import { go } from '../router.ts';
import {
  fromLocal,
  presets,
  readState,
  secondsBefore,
  type TrailState,
  toLocal,
  withChanges,
} from '../trail/query.ts';
import { findId } from '../trail/read.ts';
import { Field, Form, Select } from './form.tsx';
import { UserName } from './user-name.tsx';

const actions = {
  '': 'Any',
  CREATE: 'Create',
  READ: 'Read',
  UPDATE: 'Update',
  DELETE: 'Delete',
  LOGIN: 'Login',
  LOGOUT: 'Logout',
  EXPORT: 'Export',
} as const;
const results = { '': 'Any', SUCCESS: 'Success', FAILURE: 'Failure' } as const;
const orders = { '': 'Newest first', asc: 'Oldest first' } as const;

/** Shows what the address bar says from then on; Back leads to what it said before. */
export const showTrail = (state: TrailState): void => go('/audit', state);

interface TimeProps {
  readonly label: string;
  readonly time: string;
  readonly onTime: (time: string) => void;
}

/** A time on the clock of this machine, with UTC below it. */
const TimeField = ({ label, time, onTime }: TimeProps) => (
  <Field
    label={label}
    value={toLocal(time)}
    onValue={(text) => onTime(fromLocal(text))}
    hint={time && utcTime(time)}
    input={{ type: 'datetime-local', step: 1, max: '9999-12-31T23:59' }}
  />
);

/** The name of the user that is filtered for. */
const userHint = (applied: string, draft: string): ComponentChildren =>
  applied && applied === draft && <UserName key={applied} id={applied} isLink />;

type Name = keyof TrailState;

/** What the controls show: what the address bar says, and what was changed since. */
const useDraft = (state: TrailState) => {
  const [draft, setDraft] = useState(state);
  const latest = useRef(draft);
  const shown = useRef(state);
  const edit = (changes: Partial<TrailState>): TrailState => {
    latest.current = withChanges(latest.current, changes);
    setDraft(latest.current);
    return latest.current;
  };
  useEffect(() => {
    const isNew = ([name, value]: [string, string]) => shown.current[name as Name] !== value;
    const changes = Object.fromEntries(Object.entries(state).filter(isNew));
    shown.current = state;
    edit(changes);
  }, [JSON.stringify(state)]);
  const apply = useAction(async () => {
    // What is chosen while an address is looked up counts too.
    for (let next: TrailState | undefined; next !== latest.current; ) {
      next = latest.current;
      const userId = await findId(next.userId);
      const resourceId = await findId(next.resourceId);
      if (next === latest.current) next = edit({ userId, resourceId });
    }
    showTrail(latest.current);
  });
  return { draft, edit, apply };
};

/** Whether there is a filter that the line does not show, or that a narrow line does not. */
const hasMore = ({ since, until, order }: TrailState) => `${since}${until}${order}` !== '';
const hasSome = ({ resourceId, action, result }: TrailState) =>
  `${resourceId}${action}${result}` !== '';

/**
 * A control for each filter. Choices apply at once, what is typed with Enter or the button. One line
 * of them is shown, and the rest on demand or where it is set.
 */
export const Filters = ({ state }: { state: TrailState }) => {
  const { draft, edit, apply } = useDraft(state);
  const isSet = hasMore(state);
  const [isOpen, setOpen] = useState(isSet);
  useEffect(() => {
    if (isSet) setOpen(true);
  }, [isSet]);
  const choose = (changes: Partial<TrailState>) => {
    edit(changes);
    void apply.run();
  };
  return (
    <div class={`filters ${isOpen ? 'open' : ''} ${hasSome(state) ? 'some' : ''}`}>
      <Form action={apply} failed="The filters were not applied" submit="Show">
        <Field
          label="Who did it"
          value={draft.userId}
          onValue={(userId) => edit({ userId })}
          hint={userHint(state.userId, draft.userId)}
          input={{ ...user, type: 'search', 'aria-keyshortcuts': '/' }}
        />
        <Field
          label="To whom"
          value={draft.resourceId}
          onValue={(resourceId) => edit({ resourceId })}
          hint={userHint(state.resourceId, draft.resourceId)}
          input={{ ...user, maxLength: 191 }}
        />
        <Select
          label="Action"
          value={draft.action}
          onValue={(action) => choose({ action })}
          options={actions}
        />
        <Select
          label="Result"
          value={draft.result}
          onValue={(result) => choose({ result })}
          options={results}
        />
        <TimeField label="Since" time={draft.since} onTime={(since) => edit({ since })} />
        <TimeField label="Until" time={draft.until} onTime={(until) => edit({ until })} />
        <Select
          label="Order"
          value={draft.order}
          onValue={(order) => choose({ order })}
          options={orders}
        />
      </Form>
      <button type="button" class="quiet" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {isOpen ? 'Fewer filters' : 'More filters'}
      </button>
      {isOpen && (
        <div class="actions">
          {Object.entries(presets).map(([title, seconds]) => (
            <button
              key={title}
              type="button"
              onClick={() => choose({ since: secondsBefore(Date.now(), seconds), until: '' })}
            >
              {title}
            </button>
          ))}
          <button type="button" class="quiet" onClick={() => choose(readState({}))}>
            Clear all
          </button>
        </div>
      )}
    </div>
  );
};

const user = { placeholder: 'Address or id', autoComplete: 'off' } as const;

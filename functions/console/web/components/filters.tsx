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
    hint={toLocal(time) ? utcTime(time) : time || 'Any time'}
    input={{ type: 'datetime-local', step: 1, max: '9999-12-31T23:59' }}
  />
);

const userHint = (applied: string, draft: string): ComponentChildren =>
  applied && applied === draft ? <UserName key={applied} id={applied} /> : 'Address or id';

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

/** A control for each filter. Choices apply at once, what is typed with Enter or the button. */
export const Filters = ({ state }: { state: TrailState }) => {
  const { draft, edit, apply } = useDraft(state);
  const choose = (changes: Partial<TrailState>) => {
    edit(changes);
    void apply.run();
  };
  return (
    <div class="filters card">
      <Form action={apply} failed="The filters were not applied" submit="Show entries">
        <div class="grid">
          <Field
            label="Who did it"
            value={draft.userId}
            onValue={(userId) => edit({ userId })}
            hint={userHint(state.userId, draft.userId)}
            input={{ type: 'search', 'aria-keyshortcuts': '/', autoComplete: 'off' }}
          />
          <Field
            label="To whom"
            value={draft.resourceId}
            onValue={(resourceId) => edit({ resourceId })}
            hint={userHint(state.resourceId, draft.resourceId)}
            input={{ autoComplete: 'off', maxLength: 191 }}
          />
          <TimeField label="Since" time={draft.since} onTime={(since) => edit({ since })} />
          <TimeField label="Until" time={draft.until} onTime={(until) => edit({ until })} />
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
          <Select
            label="Order"
            value={draft.order}
            onValue={(order) => choose({ order })}
            options={orders}
          />
        </div>
      </Form>
      <div class="presets">
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
    </div>
  );
};

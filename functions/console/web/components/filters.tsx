import { useEffect, useRef, useState } from 'preact/hooks';
import { labels, settings } from '../api.ts';
import { utcTime } from '../format.ts';
import { go, href } from '../router.ts';
import { now } from '../service.ts';
import { findId, Several } from '../trail/find.ts';
import { isPosted } from '../trail/happened.ts';
import {
  fromLocal,
  groupings,
  presets,
  readState,
  secondsBefore,
  type TrailState,
  toLocal,
  withChanges,
} from '../trail/query.ts';
import { Button } from './button.tsx';
import { Field, Form, Select } from './form.tsx';
import { MachineName } from './machine-name.tsx';
import { Person } from './person.tsx';
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
};
const { resource: byResource, machineId: byMachine, ...always } = groupings;
const groups = {
  '': 'Nothing',
  ...always,
  ...(settings.machines ? { resource: byResource, machineId: byMachine } : {}),
};
const sources = { '': 'Anyone', service: 'This service', machines: 'Machines' };
const results = { '': 'Any', SUCCESS: 'Success', FAILURE: 'Failure' };
const orders = { '': 'Newest first', asc: 'Oldest first' };

/** Shows the trail for a query, which is put into the address bar. Back leads to the previous query. */
export const showTrail = (state: TrailState): void => go('/audit', state);

interface FilterProps {
  readonly label: string;
  readonly name: keyof TrailState;
  readonly state: TrailState;
}

interface UserFilterProps {
  readonly name: 'userId' | 'resourceId' | 'about';
  readonly state: TrailState;
  readonly type?: 'search';
}

/** Whether a filter is for the id of a thing of another service. */
const isOfOthers = (name: string, state: Pick<TrailState, 'resource'>): boolean =>
  name === 'resourceId' && isPosted(state);

/** A field for a user, by name, address or id; it shows the name of the user in the filter. */
const UserFilter = ({ name, state, ...input }: UserFilterProps) => (
  <Field
    {...input}
    label={labels[name]}
    name={name}
    defaultValue={state[name]}
    hint={
      state[name] &&
      !isOfOthers(name, state) && <UserName key={state[name]} id={state[name]} isLink />
    }
    placeholder="Name, address or id"
    autoComplete="off"
  />
);

/** The filters by machines and by what they have posted. */
const MachineFilters = ({ state }: { state: TrailState }) => (
  <>
    <Choice label="Written by" name="from" state={state} options={sources} />
    <Field
      label={labels.resource}
      name="resource"
      defaultValue={state.resource}
      placeholder="Such as users, or shop.orders"
      autoComplete="off"
      maxLength={100}
    />
    <Field
      label={labels.machineId}
      name="machineId"
      defaultValue={state.machineId}
      hint={/^\d+$/.test(state.machineId) && <MachineName id={Number(state.machineId)} />}
      placeholder="Id"
      autoComplete="off"
      inputMode="numeric"
    />
  </>
);

/** A time on the clock of this machine, with UTC below it. */
const TimeFilter = ({ label, name, state }: FilterProps) => (
  <Field
    label={label}
    name={name}
    type="datetime-local"
    step="any"
    max="9999-12-31T23:59"
    defaultValue={toLocal(state[name])}
    hint={state[name] && utcTime(state[name])}
  />
);

/** A choice, which applies at once. */
const Choice = ({ state, ...select }: FilterProps & { options: Record<string, string> }) => (
  <Select
    {...select}
    defaultValue={state[select.name]}
    onChange={({ currentTarget }) => currentTarget.form?.requestSubmit()}
  />
);

interface Values extends Partial<TrailState> {
  /** Seconds before now, from the button that was pressed. */
  readonly preset?: string;
}

/** Frequent queries, each with its name and how far it goes back. */
const questions = [
  ['Failed logins, last hour', { action: 'LOGIN', result: 'FAILURE' }, presets['Last hour']],
  ['Updates, last day', { action: 'UPDATE' }, presets['Last day']],
  ['Exports, last week', { action: 'EXPORT' }, presets['Last week']],
] as const;

/** Asks which of several users was meant. The chosen id is sent instead of the text that was typed. */
const Whom = ({ field, people }: Several) => (
  <p class="row notice" role="status">
    Whom do you mean?
    {people.map((user) => (
      <button key={user.id} type="submit" name={field} value={user.id}>
        <Person user={user} />
      </button>
    ))}
  </p>
);

/** Whether a filter means the id of something other than a user. */
const isOfThing = ({ resource, resourceId }: Pick<TrailState, 'resource' | 'resourceId'>) =>
  isPosted({ resource }) || /^machine-\d+$/.test(resourceId);

const queryOf = async (state: TrailState, { preset, ...values }: Values): Promise<TrailState> => {
  const said = { ...state, ...values };
  const { userId, resourceId, about, since, until, ipAddress } = said;
  return withChanges(state, {
    ...values,
    userId: await findId('userId', userId),
    resourceId: isOfThing(said) ? resourceId : await findId('resourceId', resourceId),
    about: await findId('about', about),
    ipAddress: ipAddress.trim(),
    resource: said.resource.trim(),
    machineId: said.machineId.trim().replace(/^#/, ''),
    since: preset ? secondsBefore(now(), Number(preset)) : fromLocal(since, state.since),
    until: preset ? '' : fromLocal(until, state.until),
  });
};

/** A control for each filter. One line of controls is always shown; others are shown on demand, or when set. */
export const Filters = ({ state }: { state: TrailState }) => {
  const { about, ipAddress, since, until, order, from, resource, machineId } = state;
  const more = [about, ipAddress, since, until, order, from, resource, machineId];
  const isSet = more.some((value) => value !== '');
  const [isOpen, setOpen] = useState(isSet);
  useEffect(() => {
    if (isSet) setOpen(true);
  }, [isSet]);
  const sent = useRef<Values>({});
  const [several, setSeveral] = useState<Several>();
  const apply = async () => {
    try {
      // Filters that are chosen while an address is looked up count too.
      for (let values: Values | undefined; values !== sent.current; ) {
        values = sent.current;
        const query = await queryOf(state, values);
        if (values === sent.current) showTrail(query);
      }
      setSeveral(undefined);
    } catch (error) {
      if (!(error instanceof Several)) throw error;
      setSeveral(error);
    }
  };
  const buttons = (
    <>
      <Button class="quiet" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {isOpen ? 'Fewer filters' : 'More filters'}
      </Button>
      {Object.entries(presets).map(([title, seconds]) => (
        <button key={title} type="submit" name="preset" value={seconds} class="small">
          {title}
        </button>
      ))}
      {questions.map(([title, query, seconds]) => (
        <Button
          key={title}
          class="small"
          onClick={() => showTrail(readState({ ...query, since: secondsBefore(now(), seconds) }))}
        >
          {title}
        </Button>
      ))}
      {isOpen && <a href={href('/audit')}>Clear all</a>}
    </>
  );
  return (
    <Form
      act={apply}
      onSend={(values: Values) => {
        sent.current = values;
      }}
      failed="The filters were not applied"
      submit="Show"
      beside={buttons}
      resetOn={JSON.stringify(state)}
      isQuery
    >
      <div class="row filters">
        <UserFilter name="userId" state={state} type="search" aria-keyshortcuts="/" />
        <UserFilter name="resourceId" state={state} />
        <Choice label="Action" name="action" state={state} options={actions} />
        <Choice label="Result" name="result" state={state} options={results} />
        <Choice label="Group by" name="group" state={state} options={groups} />
        {isOpen && (
          <>
            <UserFilter name="about" state={state} />
            <Field
              label={labels.ipAddress}
              name="ipAddress"
              defaultValue={ipAddress}
              placeholder="IP address"
              autoComplete="off"
              maxLength={45}
            />
            {settings.machines && <MachineFilters state={state} />}
            <TimeFilter label="Since" name="since" state={state} />
            <TimeFilter label="Until" name="until" state={state} />
            <Choice label="Order" name="order" state={state} options={orders} />
          </>
        )}
      </div>
      {several && <Whom {...several} />}
    </Form>
  );
};

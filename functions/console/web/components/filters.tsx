import { useRef, useState } from 'preact/hooks';
import { labels, settings } from '../api.ts';
import { utcTime } from '../format.ts';
import { go } from '../router.ts';
import { now } from '../service.ts';
import { findId, Several } from '../trail/find.ts';
import { isPosted } from '../trail/happened.ts';
import {
  fromLocal,
  presets,
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

/** Whether a filter is for the id of a thing of another service. */
const isOfOthers = (name: string, state: Pick<TrailState, 'resource'>): boolean =>
  name === 'resourceId' && isPosted(state);

/** A field for a user, by name, address or id; it shows the name of the user in the filter. */
const UserFilter = ({ name, state }: { name: 'userId' | 'resourceId'; state: TrailState }) => (
  <Field
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
      placeholder="Such as shop.orders"
      list="resources"
      autoComplete="off"
      maxLength={100}
    />
    <datalist id="resources">
      {['users', 'machines', 'audit-logs', 'audit-seal'].map((each) => (
        <option key={each} value={each} />
      ))}
    </datalist>
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

const times = (state: TrailState): Map<string, string> =>
  new Map([
    ['', 'Any time'],
    [today, 'Today'],
    ...Object.entries(presets).map(([title, seconds]) => [String(seconds), title] as const),
    [chosen, shownTime(state) === chosen ? 'Chosen' : 'Choose…'],
  ]);
const today = 'today';
const chosen = 'chosen';

/** The chips say which time was chosen. */
const shownTime = (state: TrailState): string => {
  if (isToday(state)) return today;
  return isTimed(state) ? chosen : '';
};

interface Values extends Partial<TrailState> {
  /** Seconds before now, {@link today}, {@link chosen}, or empty: any time. */
  readonly time?: string | undefined;
}

/** Asks which of several users was meant. The chosen id is sent instead of the text that was typed. */
const Whom = ({ field, people }: Several) => (
  <p class="row notice" role="status">
    Which person?
    {people.map((user) => (
      <button key={user.id} type="submit" name={field} value={user.id}>
        <Person user={user} />
      </button>
    ))}
  </p>
);

/** Whether a filter means the id of something other than a user. */
export const isOfThing = ({ resource, resourceId }: Pick<TrailState, 'resource' | 'resourceId'>) =>
  isPosted({ resource }) || /^machine-\d+$/.test(resourceId);

/** The time range that was chosen or typed. */
const spanOf = (state: TrailState, { time, since, until }: Values): Partial<TrailState> => {
  // While today is shown, the fields of the time may have been changed.
  if (time === today && !isToday(state)) return { since: midnight(), until: '' };
  if (Number(time) > 0) return { since: secondsBefore(now(), Number(time)), until: '' };
  if (time === '' && isTimed(state)) return { since: '', until: '' };
  return {
    ...(since !== undefined && { since: fromLocal(since, state.since) }),
    ...(until !== undefined && { until: fromLocal(until, state.until) }),
  };
};

const midnight = (): string => new Date(new Date(now()).setHours(0, 0, 0, 0)).toISOString();

const isToday = ({ since, until }: TrailState): boolean => since === midnight() && until === '';

const isTimed = ({ since, until }: TrailState): boolean => since !== '' || until !== '';

const queryOf = async (state: TrailState, { time, ...values }: Values): Promise<TrailState> => {
  const said = { ...state, ...values };
  const { userId, resourceId, ipAddress } = said;
  return withChanges(state, {
    ...values,
    userId: await findId('userId', userId),
    resourceId: isOfThing(said) ? resourceId : await findId('resourceId', resourceId),
    // The chip has the person; the search is for another one.
    about: values.about?.trim() ? await findId('about', values.about) : state.about,
    ipAddress: ipAddress.trim(),
    resource: said.resource.trim(),
    machineId: said.machineId.trim().replace(/^#/, ''),
    ...spanOf(state, { time, ...values }),
  });
};

/** One line with the search and the frequent filters; the others are shown on demand. */
export const Filters = ({ state }: { state: TrailState }) => {
  const [isOpen, setOpen] = useState(false);
  const sent = useRef<Values>({});
  const [several, setSeveral] = useState<Several>();
  const apply = async () => {
    setSeveral(undefined);
    try {
      // Filters that are chosen while an address is looked up count too.
      for (let values: Values | undefined; values !== sent.current; ) {
        values = sent.current;
        const query = await queryOf(state, values);
        if (values === sent.current) showTrail(query);
      }
    } catch (error) {
      if (!(error instanceof Several)) throw error;
      setSeveral(error);
    }
  };
  return (
    <search>
      <Form
        class="row bar"
        act={apply}
        onSend={(values: Values) => {
          sent.current = values;
        }}
        failed="The filters were not applied"
        submit="Search"
        beside={
          <Button class="quiet" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {isOpen ? 'Fewer filters' : 'More filters'}
          </Button>
        }
        below={
          <>
            {isOpen && <More state={state} />}
            {several && <Whom {...several} />}
          </>
        }
        resetOn={JSON.stringify(state)}
        isQuery
      >
        <Field
          label={labels.about}
          name="about"
          type="search"
          placeholder="Name or id"
          autoComplete="off"
          aria-keyshortcuts="/"
        />
        <Choice label="Action" name="action" state={state} options={actions} />
        <Choice label="Result" name="result" state={state} options={results} />
        <Select
          label="Time"
          name="time"
          defaultValue={shownTime(state)}
          options={times(state)}
          onChange={({ currentTarget: { value, form } }) =>
            value === chosen ? setOpen(true) : form?.requestSubmit()
          }
        />
      </Form>
    </search>
  );
};

const More = ({ state }: { state: TrailState }) => (
  <div class="filters">
    <UserFilter name="userId" state={state} />
    <UserFilter name="resourceId" state={state} />
    <Field
      label={labels.ipAddress}
      name="ipAddress"
      defaultValue={state.ipAddress}
      placeholder="IP address"
      autoComplete="off"
      maxLength={45}
    />
    {settings.machines && <MachineFilters state={state} />}
    <TimeFilter label="Since" name="since" state={state} />
    <TimeFilter label="Until" name="until" state={state} />
    <Choice label="Order" name="order" state={state} options={orders} />
  </div>
);

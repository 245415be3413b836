import { useEffect, useMemo, useState } from 'preact/hooks';
import type { AuditEntry } from '../../../client/paths.ts';
import { settings } from '../api.ts';
import { Button } from '../components/button.tsx';
import { Chips } from '../components/chips.tsx';
import { openDialog } from '../components/dialog.tsx';
import { Entries } from '../components/entries.tsx';
import { EntryDetails } from '../components/entry.tsx';
import { Extent } from '../components/extent.tsx';
import { Filters, showTrail } from '../components/filters.tsx';
import { useFollowing } from '../components/following.ts';
import { Select } from '../components/form.tsx';
import { Groups } from '../components/groups.tsx';
import { Histogram } from '../components/histogram.tsx';
import { FailureNotice } from '../components/notice.tsx';
import { Screen } from '../components/screen.tsx';
import { Waits } from '../components/waits.tsx';
import { counted } from '../format.ts';
import { place } from '../router.ts';
import { forgetUsers } from '../trail/known-users.ts';
import { groupings, readState, type TrailState, withChanges } from '../trail/query.ts';
import { useWhole, type Whole } from '../trail/whole.ts';
import { Export, SealedEntry } from './on-demand.tsx';

const { resource, machineId, ...always } = groupings;
const groups = { '': 'Nothing', ...always, ...(settings.machines && { resource, machineId }) };

interface QueryProps {
  readonly state: TrailState;
  readonly whole: Whole;
  readonly change: (changes: Partial<TrailState>) => void;
}

const Chart = ({ whole, change }: Omit<QueryProps, 'state'>) => (
  <Histogram
    entries={whole.data ?? []}
    caption={
      <>
        <Extent {...whole} />
        <span class="row">
          <span class="key good">Success</span>
          <span class="key bad">Failure</span>
        </span>
      </>
    }
    narrow={change}
  />
);

/** How many more entries are shown at a time. */
const step = 100;

/** The entries of a query, newest first unless it says otherwise. */
const List = ({ state, change, whole }: QueryProps) => {
  const { follow } = state;
  const { waiting, failure, show } = useFollowing(state, whole);
  const [most, setMost] = useState(step);
  const { data } = whole;
  const rows = useMemo(() => data?.slice(0, most), [data, most]);
  const run = async () => setMost(most + step);
  const isCut = data !== undefined && data.length > most;
  useNamedEntry(data);
  return (
    <>
      <p class="muted" role="status">
        {follow && 'Following: looks for new entries every five seconds.'}
      </p>
      {follow && waiting > 0 && (
        <Button class="primary floating" onClick={() => show()}>
          Show {counted(waiting, 'new entry', 'new entries')}
        </Button>
      )}
      {!whole.failure && <FailureNotice what="New entries could not be loaded" failure={failure} />}
      {data && data.length > 0 && <Chart whole={whole} change={change} />}
      {state.ipAddress && <Waits entries={data ?? []} />}
      <div class="trail stack">
        <Entries
          pages={{
            ...whole,
            rows,
            more: isCut ? { run, isBusy: false, failure: undefined } : undefined,
          }}
          caption="Entries of the audit trail"
          empty="No entry matches the filters. Widen the time, or clear a filter."
        />
      </div>
    </>
  );
};

/** Opens the entry to which the address leads, which the trail may no longer have. */
const useNamedEntry = (rows: readonly AuditEntry[] | undefined): void => {
  const { entry = '' } = place.use().query;
  useEffect(() => {
    if (!rows || !/^\d+$/.test(entry)) return;
    const found = rows.find(({ id }) => String(id) === entry);
    // The browser returns the focus to the row when the dialog closes.
    document.getElementById(`entry-${entry}`)?.focus();
    openDialog(found ? <EntryDetails entry={found} /> : <SealedEntry id={Number(entry)} />);
  }, [entry, rows !== undefined]);
};

/** The audit trail: its query, all of which is in the address bar. */
export const Audit = () => {
  const state = readState(place.use().query);
  const { follow, group, ...filters } = state;
  const whole = useWhole(state);
  useEffect(() => forgetUsers, []);
  const change = (changes: Partial<TrailState>) => showTrail(withChanges(state, changes));
  return (
    <Screen
      title="Audit"
      actions={
        <>
          <div class="inline">
            <Select
              label="Group by"
              name="group"
              value={group}
              options={groups}
              onChange={({ currentTarget: { value } }) =>
                change({ group: value as TrailState['group'] })
              }
            />
          </div>
          <Button onClick={() => change({ follow: follow ? '' : 'on' })}>
            {follow ? 'Stop following' : 'Follow'}
          </Button>
          <Button onClick={() => openDialog(<Export state={state} />)}>Export</Button>
        </>
      }
    >
      <Filters state={state} />
      <Chips state={state} change={change} />
      {group ? (
        <Groups state={state} by={group} whole={whole} change={change} />
      ) : (
        <List key={JSON.stringify(filters)} state={state} whole={whole} change={change} />
      )}
    </Screen>
  );
};

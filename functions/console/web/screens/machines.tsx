import type { ComponentType } from 'preact';
import type { Machine } from '../../../client/paths.ts';
import { Button, RowButton } from '../components/button.tsx';
import { openDialog } from '../components/dialog.tsx';
import {
  AnotherKey,
  ChangeMachine,
  NewMachine,
  RemoveMachine,
} from '../components/machine-dialogs.tsx';
import { MachineName } from '../components/machine-name.tsx';
import { Screen } from '../components/screen.tsx';
import { type Column, LoadedTable } from '../components/table.tsx';
import { Badge, Time } from '../components/text.tsx';
import { utcDay } from '../format.ts';
import { useLoad } from '../loading.ts';
import { endOfKeyBefore, isOver, isUnused } from '../machine.ts';
import { now } from '../service.ts';
import { isAdmin } from '../session.ts';
import { readMachines } from '../trail/known-machines.ts';

const columns: readonly Column<Machine>[] = [
  { title: 'Name', cell: ({ id }) => <MachineName id={id} />, class: 'name' },
  { title: 'May do', cell: ({ scopes }) => <code>{scopes.join(', ')}</code>, class: 'name' },
  {
    title: 'Last used',
    cell: (machine) => (
      <span>
        {machine.last_used_on ? <Time at={machine.last_used_on} write={utcDay} /> : 'never'}{' '}
        {isUnused(machine, now()) && <Badge kind="bad">Unused</Badge>}
      </span>
    ),
  },
  { title: 'End', cell: (machine) => <End {...machine} /> },
];

const End = ({ expires_at: end, keys }: Machine) => {
  const before = endOfKeyBefore({ keys }, now());
  return (
    <span>
      {end ? <Time at={end} /> : 'none'} {isOver(end, now()) && <Badge kind="bad">Ended</Badge>}
      {before && (
        <p class="row muted">
          The previous key is good until <Time at={before} />
        </p>
      )}
    </span>
  );
};

const deeds = [
  ['Change', ChangeMachine],
  ['Another key', AnotherKey],
  ['Remove', RemoveMachine],
] as const;

export const Machines = () => {
  const machines = useLoad('machines', readMachines);
  const { reload } = machines;
  const open = (Opened: ComponentType<{ machine: Machine; reload: typeof reload }>, of: Machine) =>
    openDialog(<Opened machine={of} reload={reload} />);
  const change: Column<Machine> = {
    title: 'Change',
    cell: (machine) => (
      <div class="row">
        {deeds.map(([title, Opened]) => (
          <RowButton
            key={title}
            title={title}
            of={`${machine.name} #${machine.id}`}
            onClick={() => open(Opened, machine)}
          />
        ))}
      </div>
    ),
  };
  const make = isAdmin() && (
    <Button class="primary" onClick={() => openDialog(<NewMachine reload={reload} />)}>
      Make a machine
    </Button>
  );
  return (
    <Screen title="Machines" actions={make}>
      <p class="muted">
        Other services, which call this one with keys of their own. A machine that has not called
        for 90 days is marked as unused.
      </p>
      <LoadedTable
        caption="Machines"
        columns={isAdmin() ? [...columns, change] : columns}
        from={machines}
        keyOf={({ id }) => id}
        empty="There are none."
      />
    </Screen>
  );
};

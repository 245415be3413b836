import { useEffect } from 'preact/hooks';
import { askForMachine, machineNames } from '../trail/known-machines.ts';
import { Badge } from './text.tsx';

/** A machine as all screens show machines, with a badge that no name and no resource can imitate. */
export const MachineName = ({ id }: { id: number }) => {
  const name = machineNames.use().get(id);
  useEffect(() => void askForMachine(id), [id]);
  return (
    <span class="person">
      <Badge kind="strong">Machine</Badge> {name !== undefined && <bdi>{name}</bdi>}{' '}
      <span class="id">#{id}</span>
    </span>
  );
};

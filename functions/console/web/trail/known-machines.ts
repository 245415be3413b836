/** The names of machines, by their ids. */
import type { Machine } from '../../../client/paths.ts';
import { api, sendForList, settings } from '../api.ts';
import { createStore } from '../store.ts';

/** The names that are known by now; a machine that was removed has none. */
export const machineNames = createStore<ReadonlyMap<number, string>>(new Map());

const asked = new Set<number>();

/** All machines, whose names are known from then on. */
export const readMachines = async (): Promise<readonly Machine[]> => {
  const all = await sendForList(api.GET('/api/machines'));
  machineNames.set(new Map(all.map(({ id, name }) => [id, name])));
  return all;
};

let isUnderWay = false;

/** Asks the service for the names when a machine is shown for the first time. */
export const askForMachine = async (id: number): Promise<void> => {
  if (!settings.machines || asked.has(id) || machineNames.get().has(id)) return;
  asked.add(id);
  if (isUnderWay) return;
  isUnderWay = true;
  await readMachines().catch(() => asked.clear());
  isUnderWay = false;
};

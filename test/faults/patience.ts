import type { Column } from './experiment.ts';

/** Where all should go well: a machine too busy for the service's time limits is no fault of it. */
export const maxTries = 3;

const isWell = (column: Column) =>
  [...column.values()].every(({ answer }) => !answer.startsWith('5'));

/** Calls until every endpoint has answered something else than a fault, or often enough. */
export const untilWell = async (tries: number, call: () => Promise<Column>): Promise<Column> => {
  let column = await call();
  for (let done = 1; done < tries && !isWell(column); done += 1) column = await call();
  return column;
};

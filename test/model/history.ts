/**
 * Histories of what several clients did at the same time, and whether they could have been made
 * by a service that does one thing after the other (linearizability).
 */

/** One request with its answer. Times are milliseconds of one clock. */
export interface Step<Observation> {
  readonly observed: Observation;
  readonly begun: number;
  readonly ended: number;
}

/** Sends commands one after the other. */
export const perform = async <Command, Observation>(
  commands: readonly Command[],
  send: (command: Command) => Promise<Observation>,
): Promise<Step<Observation>[]> => {
  const steps: Step<Observation>[] = [];
  for (const command of commands) {
    const begun = performance.now();
    const observed = await send(command);
    steps.push({ observed, begun, ended: performance.now() });
  }
  return steps;
};

/**
 * Whether a model that starts in a state allows a history in some order in which no step comes
 * before one that had ended when it began.
 * @param accept the state after a step, or undefined where the model would have answered otherwise
 */
export const isExplained = <State, Observation>(
  steps: readonly Step<Observation>[],
  state: State,
  accept: (state: State, observed: Observation) => State | undefined,
): boolean => {
  if (steps.length === 0) return true;
  const firstEnd = Math.min(...steps.map(({ ended }) => ended));
  return steps
    .filter(({ begun }) => begun <= firstEnd)
    .some((step) => {
      const next = accept(state, step.observed);
      const rest = steps.filter((other) => other !== step);
      return next !== undefined && isExplained(rest, next, accept);
    });
};

/** Does the steps of a run, and notes the outcome of each. */
import { Failure, UsageError } from '../../infra/operator/failure.ts';
import type { Place } from '../rehearsal/place.ts';
import {
  doStep,
  notDone,
  type Outcome,
  type Part,
  type Proof,
  type Step,
} from '../rehearsal/proof.ts';
import { steps } from '../rehearsal/steps.ts';
import { saysExpired } from './fault.ts';
import type { Run } from './run-file.ts';

/** @throws {UsageError} for a name that no step has */
export const requireNames = (only: readonly string[]): void => {
  const named = steps.filter(({ when }) => when !== 'ground').map(({ name }) => name);
  const unknown = only.find((name) => !named.includes(name));
  if (unknown === undefined) return;
  throw new UsageError(`--only knows no step ${unknown}: there are ${named.join(', ')}.`);
};

/** The chosen steps of a run, and the steps that deploy the stacks that they need. */
export const chosenSteps = ({ only }: Pick<Run, 'only'>): readonly Step[] => {
  const isChosen = ({ name, when }: Step) =>
    only.length > 0 ? only.includes(name) : when !== 'hours' && when !== 'ground';
  const chosen = steps.filter(isChosen);
  const parts = new Set(chosen.map(({ part }) => part));
  return steps.filter((step) => isChosen(step) || (step.when === 'ground' && parts.has(step.part)));
};

/**
 * Does the steps of a run that are not done yet.
 * @param note stores the present state of the run
 * @throws {Failure} when the credentials have expired, so that the run can be continued later
 */
export const proveAll = async (
  chosen: readonly Step[],
  place: Place,
  run: Run,
  note: () => void,
): Promise<void> => {
  const proof: Proof = {
    place,
    isLocked: run.isLocked && place.name === 'AWS',
    before: run.before,
    note,
  };
  for (const step of chosen.filter((each) => isDue(each, chosen, run))) {
    const begun = performance.now();
    const outcome = missing(step, proof) ?? (await doStep(step, proof));
    run.hours += (performance.now() - begun) / 3_600_000;
    if (outcome.outcome === 'failed' && saysExpired(outcome.why)) {
      note();
      throw new Failure(
        `The credentials have expired while it was to ${outcome.title}: renew them (aws sso login), and go on by --resume.`,
      );
    }
    run.outcomes = [...run.outcomes.filter(({ name }) => name !== step.name), outcome];
    note();
  }
};

/** Whether a step is to be done: a stack is deployed as long as another step needs it. */
const isDue = (step: Step, chosen: readonly Step[], run: Run): boolean => {
  const isDone = ({ name }: Step) => run.outcomes.some((outcome) => outcome.name === name);
  if (step.when !== 'ground') return !isDone(step);
  return chosen.some((each) => each.part === step.part && each.when !== 'ground' && !isDone(each));
};

/** The outcome of a step that cannot be done here, or that lacks its stack. */
const missing = (step: Step, proof: Proof): Outcome | undefined => {
  const { onlyRehearsed, part, when } = step;
  if (onlyRehearsed) return notDone(step, proof.place, onlyRehearsed);
  const isDeployed: Readonly<Record<Part, boolean>> = {
    development: proof.development !== undefined,
    production: proof.production !== undefined,
    elsewhere: true,
  };
  if (when === 'ground' || isDeployed[part]) return undefined;
  return notDone(step, proof.place, `the stack for ${part} was not deployed`);
};

/** The parts that all steps of a proof share, and how one step is done. */
import type { Account } from '../support/client.ts';
import type { Admin, Deployment } from './deployment.ts';
import type { Place } from './place.ts';
import type { Assembly } from './stack.ts';
import { takeSeen } from './step.ts';

/** A stack, and its users. */
export interface Deployed {
  readonly deployment: Deployment;
  readonly admin: Admin;
  readonly user: Account;
  /** The present deployment; steps that deploy again replace it. */
  assembly: Assembly;
}

/** The stacks of a proof, each with the steps that need it. */
export type Part = 'development' | 'production' | 'elsewhere';

/** The state that steps use, and leave to later steps. */
export interface Proof {
  readonly place: Place;
  /** Whether the archive of the production stack is locked. */
  readonly isLocked: boolean;
  development?: Deployed;
  production?: Deployed;
  /** The inventory of the account before each stack was made. */
  readonly before: Partial<Record<Part, readonly string[]>>;
  /** Stores the inventories, so that a run can be resumed. */
  readonly note?: () => void;
}

export interface Step {
  readonly name: string;
  /** The statement that the step proves. */
  readonly title: string;
  readonly part: Part;
  /**
   * When the step is done: whenever another step of its stack is done; in every rehearsal; in the long rehearsal; or in
   * the long rehearsal and, because it takes hours, in AWS only if it is named.
   */
  readonly when: 'ground' | 'gate' | 'long' | 'hours';
  /** The ability that the emulator lacks, so that the step proves nothing there. */
  readonly lacking?: string;
  /** Whether the step is nevertheless done at the emulator, where it must not fail. */
  readonly isTried?: true;
  /** Why it is not done in AWS. */
  readonly onlyRehearsed?: string;
  /** @returns the figures of the step */
  readonly run: (proof: Proof) => Promise<string | undefined>;
}

/** Something that a step needs is missing, so that the step proves nothing; the message says what is missing. */
export class NotProved extends Error {
  override readonly name = 'NotProved';
}

export interface Outcome {
  readonly name: string;
  readonly title: string;
  readonly outcome: 'proved' | 'not proved' | 'failed';
  readonly where: Place['name'];
  readonly seconds: number;
  readonly figures: string;
  /** Why nothing is proved, or what failed. */
  readonly why: string;
  /** The id of the last request that the step saw, and how many requests it saw. */
  readonly requestId: string;
  readonly requests: number;
}

/** Why a step proves nothing at a place, whatever its outcome is. */
export const reasonNotProved = ({ lacking, onlyRehearsed }: Step, place: Place) =>
  place.name === 'AWS' ? onlyRehearsed : lacking && `the emulator lacks it: ${lacking}`;

/** The outcome of a step. A step that saw no id of a request has proved nothing, however it ended. */
export const doStep = async (step: Step, proof: Proof): Promise<Outcome> => {
  const { name, title, isTried } = step;
  const reason = reasonNotProved(step, proof.place);
  if (reason !== undefined && !isTried) return notDone(step, proof.place, reason);
  console.log(`== ${title} (${name})`);
  takeSeen();
  const begun = performance.now();
  const [figures, error] = await step.run(proof).then(
    (found) => [found ?? '', undefined] as const,
    (thrown: Error) => ['', thrown] as const,
  );
  const seen = takeSeen();
  const seconds = Math.round((performance.now() - begun) / 100) / 10;
  const nothing = seen.length > 0 ? '' : 'it saw no id of a request';
  const why = error ? textOf(error) : (reason ?? nothing);
  const outcome = outcomeOf(error, why);
  const ids = { requestId: seen.at(-1) ?? '', requests: seen.length };
  console.log(`   ${[`${seconds} s: ${outcome}`, figures, why].filter(Boolean).join('; ')}`);
  return { name, title, outcome, where: proof.place.name, seconds, figures, why, ...ids };
};

const outcomeOf = (error: Error | undefined, why: string): Outcome['outcome'] => {
  if (error && !(error instanceof NotProved)) return 'failed';
  return why ? 'not proved' : 'proved';
};

const textOf = ({ name, message }: Error): string =>
  /^(Error|NotProved)$/.test(name) ? message : `${name}: ${message}`;

/** The outcome of a step that is not done. */
export const notDone = ({ name, title }: Step, { name: where }: Place, why: string): Outcome => ({
  ...{ name, title, outcome: 'not proved', where, why },
  ...{ seconds: 0, figures: '', requestId: '', requests: 0 },
});

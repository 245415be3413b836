/**
 * `npm run rehearse`: does the steps of steps.ts at an emulator of AWS on this machine. `npm run rehearse -- long` does
 * all steps: it also follows the runbooks with a production stack, and rotates the signing secret and key under
 * traffic, which takes as long as a new secret and a new key need until they sign.
 */
import { readFileSync } from 'node:fs';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { endAll } from './command.ts';
import { certificateFile } from './edge.ts';
import { startEmulator } from './emulator.ts';
import type { Place } from './place.ts';
import { doStep, type Outcome, type Proof, reasonNotProved } from './proof.ts';
import { installPython } from './python.ts';
import { step } from './step.ts';
import { steps } from './steps.ts';
import { emptyRunFolder, isLong, runFolder } from './workspace.ts';

/** The most milliseconds of a rehearsal, several times its usual duration. */
const timeLimit = (isLong ? 4 : 1) * 60 * 60_000;

const chosen = steps.filter(
  ({ part, when }) => isLong || when === 'gate' || (when === 'ground' && part === 'development'),
);

/** Does one step after the other. @throws {Error} after a step that fails or sees no request */
const rehearseAt = async (place: Place): Promise<readonly Outcome[]> => {
  setDefaultCACertificates([...getCACertificates(), readFileSync(certificateFile, 'utf8')]);
  const proof: Proof = { place, isLocked: true, before: {} };
  const outcomes: Outcome[] = [];
  for (const each of chosen) {
    const outcome = await doStep(each, proof);
    outcomes.push(outcome);
    const isAsKnown = outcome.outcome === 'proved' || reasonNotProved(each, place);
    if (outcome.outcome === 'failed' || !isAsKnown)
      throw new Error(`${outcome.title}: ${outcome.why}`);
  }
  return outcomes;
};

const rehearse = async (): Promise<readonly Outcome[]> => {
  emptyRunFolder();
  await step('Install the emulator', installPython, String);
  const { place, stop } = await step('Start the emulator', startEmulator);
  try {
    return await rehearseAt(place);
  } finally {
    await stop();
  }
};

const giveUp = (reason: string): void => {
  console.error(`${reason}; logs are in ${runFolder}`);
  endAll();
  process.exit(1);
};

/** Steps that need an ability that the emulator lacks are not proved, and no step passes without a request. */
const summaryOf = (outcomes: readonly Outcome[]): string => {
  const others = outcomes.filter(({ outcome }) => outcome !== 'proved');
  const lines = others.map(({ name, why }) => `\n   not proved: ${name}, because ${why}`);
  return `${outcomes.length - others.length} steps were proved at the emulator${lines.join('')}`;
};

process.once('SIGINT', () => giveUp('Interrupted'));
process.once('SIGTERM', () => giveUp('Terminated'));
const timer = setTimeout(() => giveUp('Out of time'), timeLimit);
try {
  await step('Rehearsal of a deployment', rehearse, summaryOf);
} catch (error) {
  giveUp(error instanceof Error ? error.message : String(error));
}
clearTimeout(timer);
endAll();

/** The place where steps are done: the emulator, or an account of AWS. */
import type { Call } from './aws.ts';
import type { Template } from './template.ts';

export interface Place {
  readonly name: 'AWS' | 'the emulator';
  readonly account: string;
  readonly region: string;
  /** The variables by which a command, and the AWS SDK in it, finds the place. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly call: Call;
  /** The random id of a proving run, which is in the names and tags of its stacks; absent in a rehearsal. */
  readonly run?: string;
  /** Seconds from one run of the sealer to the next. */
  readonly sealInterval: number;
  /** The port of the emulator on this machine; absent in AWS. */
  readonly port?: number;
  /** Changes the parts of a template that the place lacks, or interprets differently from AWS. */
  readonly adapt: (template: Template) => Template;
  /** Makes a deployed API reachable. @param apiUrl the output of the stack */
  readonly openApi: (apiUrl: string) => Promise<{ readonly url: string; stop: () => void }>;
}

/** @throws {Error} in AWS, where mails and messages cannot be read without receiving them */
export const portOf = ({ port }: Place): number => {
  if (port === undefined) throw new Error('This is read at the emulator alone');
  return port;
};

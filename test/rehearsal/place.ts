/** Where steps are done: the emulator, or an account of AWS. */
import type { Call } from './aws.ts';
import type { Template } from './template.ts';

export interface Place {
  readonly name: 'AWS' | 'the emulator';
  readonly account: string;
  readonly region: string;
  /** The variables by which a command, and the AWS SDK in it, finds the place. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly call: Call;
  /** The random id of a proving run, which its stacks and tags have; absent in a rehearsal. */
  readonly run?: string;
  /** Seconds from one run of the sealer to the next. */
  readonly sealInterval: number;
  /** The emulator's alone: its port on this machine. */
  readonly port?: number;
  /** Changes what the place lacks, or reads otherwise than AWS. */
  readonly adapt: (template: Template) => Template;
  /** Makes a deployed API reachable. @param apiUrl the stack's output */
  readonly openApi: (apiUrl: string) => Promise<{ readonly url: string; stop: () => void }>;
}

/** @throws {Error} in AWS, where nothing reads mails or messages in passing */
export const portOf = ({ port }: Place): number => {
  if (port === undefined) throw new Error('This is read at the emulator alone');
  return port;
};

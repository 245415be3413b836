import type { Author } from './audit.ts';
import type { Target } from './target.ts';

/** A command as it was typed, and the service it is for. */
export interface Invocation {
  readonly author: Author;
  readonly operands: readonly string[];
  readonly options: Readonly<Record<string, string | boolean | undefined>>;
  readonly target: Target;
}

/** Does a command's work. @throws {Failure} */
export type Run = (invocation: Invocation) => Promise<void>;

export interface CommandOption {
  readonly type: 'string' | 'boolean';
  /** What help calls the value of a string. */
  readonly value?: string;
  readonly help: string;
}

export interface Command {
  readonly summary: string;
  /** The names of its arguments, all of them required. */
  readonly operands: readonly string[];
  readonly options?: Readonly<Record<string, CommandOption>>;
  readonly help: string;
  /** Command lines, without their beginning. */
  readonly examples: readonly string[];
  /** What its exit status means, where a failure is not 1. */
  readonly status?: { readonly failure: number; readonly help: string };
  readonly run: Run;
}

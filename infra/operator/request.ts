import { type ParseArgsConfig, parseArgs } from 'node:util';
import { localSettings } from '../local/settings.ts';
import type { Command } from './command.ts';
import { commands } from './commands.ts';
import { UsageError } from './failure.ts';
import { commonOptions } from './help.ts';
import type { TargetName } from './target.ts';

/** What was typed. */
export type CommandRequest =
  | { readonly help: true; readonly name?: string }
  | {
      readonly help: false;
      readonly name: string;
      readonly operands: readonly string[];
      readonly options: Readonly<Record<string, string | boolean | undefined>>;
      readonly target: TargetName;
    };

const helpOn = (name: string) => `npm run operator -- ${name} --help tells more.`;

const { dataFolder } = localSettings;

/** Its value is optional, and the next argument never is it. */
const completeLocal = (argument: string): string =>
  argument === '--local' ? `--local=${process.env.DATA_DIR || dataFolder.otherwise}` : argument;

const refusePassword = (name: string, given: readonly string[]): void => {
  if (!given.some((argument) => /^--?p(ass(word|wd)?)?(=|$)/i.test(argument))) return;
  throw new UsageError(
    `A password is never an argument: those stay in the history of the shell and show in the list of processes. Leave it out; it is asked for, or read from standard input. ${helpOn(name)}`,
  );
};

const parseOptions = (name: string, command: Command, given: readonly string[]) => {
  const options: ParseArgsConfig['options'] = { ...command.options, ...commonOptions };
  try {
    return parseArgs({ args: given.map(completeLocal), options, allowPositionals: true });
  } catch (error) {
    const [problem = ''] = (error as Error).message.split(/\. |\n/);
    throw new UsageError(
      `${problem.replace(' argument missing', ' needs a value')}. ${helpOn(name)}`,
    );
  }
};

const requireOperands = (name: string, command: Command, given: readonly string[]): void => {
  const wanted = command.operands;
  if (given.length === wanted.length && given.every((operand) => operand !== '')) return;
  // What was given is not repeated: it may be a password.
  throw new UsageError(
    `${name} takes ${wanted.join(' ') || 'no argument'}; arguments given: ${given.length}. A folder follows --local after an equals sign, and a password is never an argument. ${helpOn(name)}`,
  );
};

const refuseSeveral = (name: string, { stack, local, archive }: Options): void => {
  if (archive === '') throw new UsageError(`--archive needs a folder. ${helpOn(name)}`);
  if (archive && (stack || local)) {
    throw new UsageError(`Neither --stack nor --local with --archive. ${helpOn(name)}`);
  }
  if (stack && local) throw new UsageError(`Either --stack or --local, not both. ${helpOn(name)}`);
};

const parseTarget = (name: string, { stack, local, archive }: Options): TargetName => {
  if (typeof archive === 'string' && archive) return { offline: true };
  if (typeof stack === 'string' && stack) return { stack };
  if (typeof local === 'string' && local) return { folder: local };
  throw new UsageError(
    `Which service? --stack NAME for a deployed one, --local for the one on this machine, after "npm run operator --" with its two dashes. ${helpOn(name)}`,
  );
};

type Options = Readonly<Record<string, unknown>>;

const isHelp = (argument: string | undefined) => argument === '--help' || argument === '-h';

/** @throws {UsageError} */
export const parseRequest = ([name, ...given]: readonly string[]): CommandRequest => {
  if (isHelp(name) || name === 'help') return { help: true };
  const command = name !== undefined && Object.hasOwn(commands, name) && commands[name];
  if (!command) {
    const known = `The commands are ${Object.keys(commands).join(', ')}.`;
    throw new UsageError(`${name ? `There is no command ${name}.` : 'Which command?'} ${known}`);
  }
  if (given.some(isHelp)) return { help: true, name };
  refusePassword(name, given);
  const { values, positionals: operands } = parseOptions(name, command, given);
  const { stack: _, local: __, ...options } = values;
  requireOperands(name, command, operands);
  refuseSeveral(name, values);
  const target = parseTarget(name, values);
  return { help: false, name, operands, options: options as Record<string, string>, target };
};

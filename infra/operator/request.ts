import { type ParseArgsConfig, parseArgs } from 'node:util';
import { localSettings } from '../local/settings.ts';
import type { Command, CommandOption } from './command.ts';
import { commands } from './commands.ts';
import { UsageError } from './failure.ts';
import type { TargetName } from './target.ts';

const program = 'npm run operator --';

/** Options of every command. */
const commonOptions = {
  stack: {
    type: 'string',
    value: 'NAME',
    help: 'a deployed service, by its CloudFormation stack in AWS_PROFILE and AWS_REGION',
  },
  local: {
    type: 'string',
    value: 'FOLDER',
    help: 'the service on this machine, running or not, by its data folder (DATA_DIR or .local)',
  },
  help: { type: 'boolean', help: 'print this help' },
} as const satisfies Readonly<Record<string, CommandOption>>;

const optionColumn = 20;

const describeOption = ([name, { value, help }]: [string, CommandOption]): string => {
  const shown = name === 'local' ? `--local[=${value}]` : `--${name}${value ? ` ${value}` : ''}`;
  return `  ${shown.padEnd(optionColumn)}  ${help}`;
};

const describeOptions = (options: Readonly<Record<string, CommandOption>>): string =>
  Object.entries(options).map(describeOption).join('\n');

/** Characters of a line of usage. */
const width = 100;

const synopsis = (name: string, { operands, options = {} }: Command): string => {
  const own = Object.entries(options).map(([option, { value }]) =>
    value ? `[--${option} ${value}]` : `[--${option}]`,
  );
  const lines = [program];
  for (const word of [name, ...operands, ...own, '(--stack NAME | --local[=FOLDER])']) {
    const line = `${lines.at(-1)} ${word}`;
    if (line.length <= width) lines[lines.length - 1] = line;
    else lines.push(`      ${word}`);
  }
  return lines.join('\n');
};

/** The help of one command. */
export const commandHelp = (name: string, command: Command): string => `${name}: ${command.summary}

Usage: ${synopsis(name, command)}

${command.help}

Options:
${describeOptions({ ...command.options, ...commonOptions })}

Examples:
${command.examples.map((example) => `  ${program} ${example}`).join('\n')}

Exit status: ${command.status?.help ?? '0 success, 1 failure, 2 wrong usage'}.`;

/** The help of all commands. */
export const overallHelp = (): string => `Commands for the engineer who runs the accounts service.

Usage: ${program} COMMAND [ARGUMENT] (--stack NAME | --local[=FOLDER])

Commands:
${Object.entries(commands)
  .map(([name, { summary }]) => `  ${name.padEnd(optionColumn)}  ${summary}`)
  .join('\n')}

Options:
${describeOptions(commonOptions)}

Each command on a service leaves an entry in its audit trail.
For the help of one: ${program} COMMAND --help

Examples:
  ${program} create-admin ada@example.com --stack accounts-production
  ${program} list-admins --local

Exit status: 0 success, 1 failure, 2 wrong usage.`;

/** A command line that was parsed. */
export type CommandRequest =
  | { readonly help: true; readonly name?: string }
  | {
      readonly help: false;
      readonly name: string;
      readonly operands: readonly string[];
      readonly options: Readonly<Record<string, string | boolean | undefined>>;
      readonly target: TargetName;
    };

const helpOn = (name: string) => `For help: npm run operator -- ${name} --help`;

const { dataFolder } = localSettings;

/** Gives --local its default. Its value is never the next argument. */
const completeLocal = (argument: string): string =>
  argument === '--local' ? `--local=${process.env.DATA_DIR || dataFolder.default}` : argument;

const refusePassword = (name: string, given: readonly string[]): void => {
  if (!given.some((argument) => /^--?p(ass(word|wd)?)?(=|$)/i.test(argument))) return;
  throw new UsageError(
    `A password is never an argument, because arguments stay in the history of the shell and are shown in the list of processes. Leave it out; it is asked for, or read from standard input. ${helpOn(name)}`,
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
  // The arguments are not repeated: one may be a password.
  throw new UsageError(
    `${name} takes ${wanted.join(' ') || 'no argument'}; arguments given: ${given.length}. A folder is given as --local=FOLDER, and a password is never an argument. ${helpOn(name)}`,
  );
};

const refuseSeveral = (name: string, { stack, local, archive }: Options): void => {
  if (archive === '') throw new UsageError(`--archive needs a folder. ${helpOn(name)}`);
  if (archive && (stack || local)) {
    throw new UsageError(`--archive cannot be combined with --stack or --local. ${helpOn(name)}`);
  }
  if (stack && local)
    throw new UsageError(`--stack cannot be combined with --local. ${helpOn(name)}`);
};

const parseTarget = (name: string, { stack, local, archive }: Options): TargetName => {
  if (typeof archive === 'string' && archive) return { offline: true };
  if (typeof stack === 'string' && stack) return { stack };
  if (typeof local === 'string' && local) return { folder: local };
  throw new UsageError(
    `Name the service: --stack NAME for a deployed one, or --local for the one on this machine, after "npm run operator --" with its two dashes. ${helpOn(name)}`,
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
    throw new UsageError(`${name ? `There is no command ${name}.` : 'Name a command.'} ${known}`);
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

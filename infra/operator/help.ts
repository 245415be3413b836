import type { Command, CommandOption } from './command.ts';
import { commands } from './commands.ts';

const program = 'npm run operator --';

/** Options of every command. */
export const commonOptions = {
  stack: {
    type: 'string',
    value: 'NAME',
    help: 'a deployed service, by its CloudFormation stack; AWS_PROFILE and AWS_REGION say where',
  },
  local: {
    type: 'string',
    value: 'FOLDER',
    help: 'the service on this machine, running or not, by its data folder (DATA_DIR or .local)',
  },
  help: { type: 'boolean', help: 'this text' },
} as const satisfies Readonly<Record<string, CommandOption>>;

const optionColumn = 18;

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

Exit status: ${command.status?.help ?? '0 done, 1 failed, 2 wrong usage'}.`;

/** The help of all of them. */
export const overallHelp = (): string => `Commands for whoever runs the accounts service.

Usage: ${program} COMMAND [ARGUMENT] (--stack NAME | --local[=FOLDER])

Commands:
${Object.entries(commands)
  .map(([name, { summary }]) => `  ${name.padEnd(optionColumn)}  ${summary}`)
  .join('\n')}

Options:
${describeOptions(commonOptions)}

Each command leaves an entry in the audit log. ${program} COMMAND --help tells more about one.

Examples:
  ${program} create-admin ada@example.com --stack accounts-production
  ${program} list-admins --local

Exit status: 0 done, 1 failed, 2 wrong usage.`;

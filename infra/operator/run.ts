/** The operator's command line: lists the commands, parses a command line, and runs its command. */
import { CommanderError, Command as Program } from 'commander';
import { localSettings } from '../local-settings.ts';
import { parameterOf } from '../parameter.ts';
import type { Command, Invocation } from './command.ts';
import { checkDeployment } from './commands/check-deployment.ts';
import { createAdmin } from './commands/create-admin.ts';
import { createMachine } from './commands/create-machine.ts';
import { edgeHeader } from './commands/edge-header.ts';
import { exportAudit } from './commands/export-audit.ts';
import { exportUsers } from './commands/export-users.ts';
import { importUsers } from './commands/import-users.ts';
import { replayArchive } from './commands/replay-archive.ts';
import { replayAudit } from './commands/replay-audit.ts';
import { resetPassword } from './commands/reset-password.ts';
import { revoke, revokeAll } from './commands/revoke.ts';
import { rotateSecret } from './commands/rotate-secret.ts';
import { rotateSigningKey } from './commands/rotate-signing-key.ts';
import { verifyAudit } from './commands/verify-audit.ts';
import { verifyEmail } from './commands/verify-email.ts';
import { explain, UsageError } from './failure.ts';
import { openTarget, type TargetName } from './target.ts';

/** The commands, in the order of the help. */
export const commands: Readonly<Record<string, Command>> = {
  'create-admin': createAdmin,
  'create-machine': createMachine,
  revoke,
  'revoke-all': revokeAll,
  'reset-password': resetPassword,
  'verify-email': verifyEmail,
  'rotate-secret': rotateSecret,
  'rotate-signing-key': rotateSigningKey,
  'edge-header': edgeHeader,
  'import-users': importUsers,
  'export-users': exportUsers,
  'replay-audit': replayAudit,
  'replay-archive': replayArchive,
  'export-audit': exportAudit,
  'verify-audit': verifyAudit,
  'check-deployment': checkDeployment,
};

/** Runs a command line. If it fails, prints why, and sets the exit status of the process. */
export async function runCommand(args: readonly string[]): Promise<void> {
  try {
    refusePassword(args);
    await makeProgram().parseAsync(args.map(completeLocal), { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode === 0 ? 0 : 2;
      return;
    }
    console.error(explain(error));
    process.exitCode = error instanceof UsageError ? 2 : failureStatus(args);
  }
}

export function failureStatus([name = '']: readonly string[]): number {
  return commands[name]?.status?.failure ?? 1;
}

/**
 * Refuses a password as an argument: arguments are kept in the history of the shell, and shown in the list of
 * processes.
 */
function refusePassword(args: readonly string[]): void {
  if (!args.some((argument) => /^--?p(ass(word|wd)?)?(=|$)/i.test(argument))) return;
  throw new UsageError(
    'A password must not be an argument: leave it out. The command asks for it, or reads it from standard input.',
  );
}

/** The beginning of command lines in messages; the package (infra/package/make.ts) has a program of its own. */
const commandLine = process.env.OPERATOR_COMMAND || 'npm run operator --';

function makeProgram(): Program {
  const program = new Program(commandLine);
  program
    .description(
      'Commands for the engineer who runs the accounts service. Each is for one service, --stack or --local, and leaves an entry in its audit trail.',
    )
    .addHelpText('after', `\nExample:\n  ${commandLine} create-admin ada@example.com --local`)
    .exitOverride()
    .showHelpAfterError('For help: add --help.');
  for (const [name, command] of Object.entries(commands)) addCommand(program, name, command);
  return program;
}

function addCommand(program: Program, name: string, command: Command): void {
  const { summary, operands = [], options = {}, help, examples = [], status } = command;
  const own = program.command(name).summary(summary);
  // Lines of a paragraph are joined, because commander wraps them again for the width of the terminal.
  const paragraphs = help.replaceAll(/(?<=\S)\n(?=\S)/g, ' ');
  own.description(`${summary.charAt(0).toUpperCase()}${summary.slice(1)}.\n\n${paragraphs}`);
  for (const operand of operands) own.argument(`<${operand}>`);
  const append = (value: string, before: readonly string[] = []) => [...before, value];
  for (const [flags, description] of Object.entries({ ...options, ...serviceOptions })) {
    // The next argument of an option that may be repeated is one value, as of all others.
    if (flags.includes('...')) own.option(flags.replace('...', ''), description, append);
    else own.option(flags, description);
  }
  const lines = examples.map((example) => `\n  ${commandLine} ${example}`);
  own.addHelpText('after', lines.length > 0 ? `\nExamples:${lines.join('')}` : '');
  own.addHelpText(
    'after',
    `\nExit status: ${status?.help ?? '0 success, 1 failure, 2 wrong usage'}.`,
  );
  own.action(async () => {
    const options = own.opts();
    const target = await openTarget(targetOf(options));
    try {
      const operator = { command: name, identity: target.identity };
      await command.run({ operator, operands: own.args, options, target });
    } finally {
      await target.close?.();
    }
  });
}

/** The options of every command. */
const serviceOptions = {
  '--stack <name>': 'a deployed service, by its stack in AWS_PROFILE and AWS_REGION',
  '--service <parameter>':
    'a deployed service that shares its stack, by its parameter, /accounts/STACK/PATH',
  '--local [folder]': 'the service on this machine, by its data folder (DATA_DIR or .local)',
};

const reminder = `after "${commandLine}"${commandLine.endsWith('--') ? ' with its two dashes' : ''}`;

/** The options that name restored tables, which no service uses yet, and the archive of their trail. */
const restoredNames = ['usersTable', 'auditTable', 'bucket', 'key'] as const;

/** @throws {UsageError} if the command line does not name exactly one service, or files */
function targetOf(options: Invocation['options']): TargetName {
  const { stack, service, local, archive } = options;
  const given = [stack, service, local, archive].filter((each) => each !== undefined);
  const names = restoredNames.map((name) => String(options[name] ?? ''));
  if (given.length === 0 && names.every(Boolean)) {
    const [usersTable = '', auditTable = '', bucket = '', keyArn = ''] = names;
    return { usersTable, auditTable, bucket, keyArn };
  }
  if (given.length === 1 && given[0] !== '') {
    if (archive !== undefined) return { offline: true };
    if (local !== undefined) return { folder: String(local) };
    return { parameter: stack === undefined ? String(service) : parameterOf(String(stack)) };
  }
  throw new UsageError(
    `Name one service: --stack NAME or --service PARAMETER for a deployed service, or --local for the service on this machine, ${reminder}.`,
  );
}

/** Gives --local its default. Its value is never the next argument. */
function completeLocal(argument: string): string {
  return argument === '--local'
    ? `--local=${process.env.DATA_DIR || localSettings.dataDir.default}`
    : argument;
}

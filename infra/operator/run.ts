import { commands } from './commands.ts';
import { explain, UsageError } from './failure.ts';
import { commandHelp, overallHelp, parseRequest } from './request.ts';
import { openTarget } from './target.ts';

/** The exit status of a command that has failed. */
export const failureStatus = ([name = '']: readonly string[]): number =>
  commands[name]?.status?.failure ?? 1;

const run = async (args: readonly string[]): Promise<void> => {
  const request = parseRequest(args);
  const command = commands[request.name ?? ''];
  if (request.help || !command) {
    console.log(request.name && command ? commandHelp(request.name, command) : overallHelp());
    return;
  }
  const target = await openTarget(request.target);
  try {
    const operator = { command: request.name, identity: target.identity };
    await command.run({ ...request, operator, target });
  } finally {
    await target.close();
  }
};

/** Runs a command line. If it fails, prints why, and sets the exit status of the process. */
export const runCommand = async (args: readonly string[]): Promise<void> => {
  try {
    await run(args);
  } catch (error) {
    console.error(explain(error));
    process.exitCode = error instanceof UsageError ? 2 : failureStatus(args);
  }
};

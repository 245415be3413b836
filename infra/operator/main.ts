/** `npm run operator`: the commands of the engineer who runs the service. */
import { faultName } from '../../lib/errors.ts';
import { commands } from './commands.ts';
import { explain, UsageError } from './failure.ts';
import { commandHelp, overallHelp, parseRequest } from './request.ts';
import { openTarget } from './target.ts';

const failureOf = ([name = '']: readonly string[]): number => commands[name]?.status?.failure ?? 1;

const statusOf = (error: unknown, given: readonly string[]): number =>
  error instanceof UsageError ? 2 : failureOf(given);

/**
 * Has a command go on to its end, and leave its entry, when its output cannot be written: the disk
 * is full, or the reader of the pipe is gone. Only the exit status tells of that, unless it has
 * worse to tell.
 */
const outliveOutput = (given: readonly string[]): void => {
  let isLost = false;
  process.stdout.on('error', (error) => {
    if (!isLost) console.error(`Standard output cannot be written (${faultName(error)}).`);
    isLost = true;
  });
  process.stderr.on('error', () => {
    isLost = true;
  });
  process.on('exit', () => {
    if (isLost) process.exitCode ||= failureOf(given);
  });
};

const main = async (args: readonly string[]): Promise<void> => {
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

const given = process.argv.slice(2);
outliveOutput(given);
try {
  await main(given);
} catch (error) {
  console.error(explain(error));
  process.exitCode = statusOf(error, given);
}

/** `npm run operator`: the commands of the engineer who runs the service. */
import { commands } from './commands.ts';
import { explain, UsageError } from './failure.ts';
import { commandHelp, overallHelp } from './help.ts';
import { parseRequest } from './request.ts';
import { openTarget } from './target.ts';

const statusOf = (error: unknown, [name = '']: readonly string[]): number =>
  error instanceof UsageError ? 2 : (commands[name]?.status?.failure ?? 1);

const main = async (args: readonly string[]): Promise<void> => {
  const request = parseRequest(args);
  const command = commands[request.name ?? ''];
  if (request.help || !command) {
    console.log(request.name && command ? commandHelp(request.name, command) : overallHelp());
    return;
  }
  const target = await openTarget(request.target);
  try {
    const author = { command: request.name, operator: target.operator };
    await command.run({ ...request, author, target });
  } finally {
    await target.close();
  }
};

// The reader of a pipe went away.
process.stdout.on('error', () => process.exit(1));

const given = process.argv.slice(2);
try {
  await main(given);
} catch (error) {
  console.error(explain(error));
  process.exitCode = statusOf(error, given);
}

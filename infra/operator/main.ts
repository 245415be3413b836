/** `npm run operator`: the commands of the engineer who runs the service. */
import { faultName } from '../../lib/ground/errors.ts';
import { failureStatus, runCommand } from './run.ts';

const args = process.argv.slice(2);
outliveOutput(args);
await runCommand(args);

/**
 * Lets a command finish and write its audit entry even if its output cannot be written because the disk is full or the
 * reader of the pipe has ended. The exit status is then the status of a failure, unless the command has set another
 * status.
 */
function outliveOutput(args: readonly string[]): void {
  let isLost = false;
  process.stdout.on('error', (error) => {
    if (!isLost) console.error(`Standard output cannot be written (${faultName(error)}).`);
    isLost = true;
  });
  process.stderr.on('error', () => {
    isLost = true;
  });
  process.on('exit', () => {
    if (isLost) process.exitCode ||= failureStatus(args);
  });
}

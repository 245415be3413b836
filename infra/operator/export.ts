import { Failure } from './failure.ts';
import { exportTo, type Write } from './files.ts';
import { catchInterruption, startProgress } from './terminal.ts';

/** Shows the progress of an export. @throws {Failure} after Ctrl-C, which ends the export */
export type Advance = (count: number, fraction?: number) => void;

/**
 * Exports to a new file, or to standard output, and says how much was exported.
 * @param what the name of what is exported, in the plural
 * @param work writes everything, and returns how many were written
 */
export async function exportAll(
  file: string,
  what: string,
  work: (write: Write, advance: Advance) => Promise<number>,
): Promise<void> {
  const exported = await exportTo(file, (write) => {
    const [progress, interruption] = [startProgress(process.stderr), catchInterruption()];
    const advance: Advance = (count, fraction) => {
      if (interruption.requested) throw new Failure('Interrupted: the export is not complete.');
      progress.show(fraction, `${count.toLocaleString('en')} ${what}`);
    };
    return work(write, advance).finally(() => {
      progress.end();
      interruption.release();
    });
  });
  console.error(`Exported ${exported.toLocaleString('en')} ${what}.`);
}

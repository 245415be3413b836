import { auditPublisher, auditSealer, functions } from '../../uses.ts';
import { bundleFunctions } from './bundle.ts';
import { temporaryFolder } from './temporary-folder.ts';

let made: string | undefined;

/**
 * The folder of the bundles, each in a folder with the name of its function. A process makes them once, for
 * all services. In the package, which has finished bundles, infra/package/bundles.ts is in the place of this
 * file.
 */
export function bundlesFolder(): string {
  if (made === undefined) {
    made = temporaryFolder();
    bundleFunctions([...functions, auditSealer, auditPublisher], made);
  }
  return made;
}

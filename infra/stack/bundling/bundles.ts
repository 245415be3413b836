import { auditPublisher, auditSealer, functions } from '../../uses.ts';
import { bundleFunctions } from './bundle.ts';
import { temporaryFolder } from './temporary-folder.ts';

let made: string | undefined;

/**
 * The folder of the bundles; each bundle is in a folder with the name of its function. A process makes the bundles only
 * once, for all services. The package has finished bundles: there, infra/package/bundles.ts replaces this file.
 */
export function bundlesFolder(): string {
  if (made === undefined) {
    made = temporaryFolder();
    bundleFunctions([...functions, auditSealer, auditPublisher], made);
  }
  return made;
}

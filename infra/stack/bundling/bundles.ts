import { auditPublisher, auditSealer, functions } from '../../uses.ts';
import { bundleFunctions } from './bundle.ts';
import { temporaryFolder } from './temporary-folder.ts';

let made: string | undefined;

/**
 * The folder that has the bundle of each function in a folder of its name. They are bundled once in a
 * process, for all services. The package has them from infra/package/bundles.ts.
 */
export function bundlesFolder(): string {
  if (made === undefined) {
    made = temporaryFolder();
    bundleFunctions([...functions, auditSealer, auditPublisher], made);
  }
  return made;
}

/** Runs the sealer once, in a process that `npm start` starts for each run (sealing.ts). */
import { existsSync } from 'node:fs';
import { logFailure, runSealer } from '../../lib/seal/check.ts';
import * as asked from '../../lib/seal/check-request.ts';
import { folderArchive } from '../../lib/seal/folder-archive.ts';
import * as shownHeader from '../../lib/seal/newest-header.ts';
import { auditEntries } from '../../lib/seal/table.ts';
import * as whole from '../../lib/seal/whole-check.ts';
import { archiveFolder, signerIn } from './sealing.ts';

const [folder = '', interval = ''] = process.argv.slice(2);
const signer = signerIn(folder);
if (!signer) process.exit(1);
const archive = folderArchive(archiveFolder(folder));
const common = { source: auditEntries, shown: shownHeader, asked, whole };
const sealing = { archive, signer, interval: Number(interval), ...common };
await runSealer(sealing, new Date()).catch((error) => {
  if (existsSync(folder)) logFailure(error);
});

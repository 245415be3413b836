import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));

/** The folder of everything that rehearsals write, except the reports; ignored by git. */
export const workspace = join(root, '.rehearsal');

/** The folder of everything that one rehearsal writes; kept until the next rehearsal, because of its logs. */
export const runFolder = join(workspace, 'run');

/**
 * The folder where functions are unpacked: outside the repository, where they would find its node_modules and
 * package.json. It is removed when this process ends.
 */
export const temporaryFolder = mkdtempSync(join(tmpdir(), 'rehearsal-'));
process.once('exit', () => rmSync(temporaryFolder, { recursive: true, force: true }));

export const emptyRunFolder = (): void => {
  rmSync(runFolder, { recursive: true, force: true });
  mkdirSync(runFolder, { recursive: true });
};

/** The account and the region of the emulator. */
export const account = '000000000000';
export const region = 'eu-central-1';

/** The environment of this process without anything that could direct a command to a real account. */
const withoutAws = () =>
  Object.entries(process.env).filter(([name]) => !/^(AWS|CDK|MINISTACK|NODE)_/.test(name));

/** The environment of every command: Node 24, and no settings of AWS except the settings of the emulator. */
export const environment: Readonly<Record<string, string>> = {
  ...(Object.fromEntries(withoutAws()) as Record<string, string>),
  // The emulator takes this name for the root user of the account.
  AWS_ACCESS_KEY_ID: 'test',
  AWS_SECRET_ACCESS_KEY: 'test',
  PATH: [join(root, 'node_modules/.bin'), process.env.PATH].join(delimiter),
  TMPDIR: temporaryFolder,
  AWS_REGION: region,
  AWS_DEFAULT_REGION: region,
  AWS_CONFIG_FILE: '/dev/null',
  AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
  AWS_EC2_METADATA_DISABLED: 'true',
  CDK_HOME: join(runFolder, 'cdk'),
  CDK_DISABLE_CLI_TELEMETRY: 'true',
  CDK_DISABLE_VERSION_CHECK: 'true',
  NO_COLOR: '1',
};

/** Whether this is `npm run rehearse -- long`. */
export const isLong = process.argv[2] === 'long';

import type { ChildProcess } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../infra/local/port.ts';
import { until } from '../support/until.ts';
import { awsClient } from './aws.ts';
import { end, start } from './command.ts';
import { certificateFile, type Edge, makeCertificate, startEdge } from './edge.ts';
import { startGatewayEdge } from './gateway-edge.ts';
import type { Place } from './place.ts';
import { pythonProgram } from './python.ts';
import { adaptToEmulator, sealInterval } from './template.ts';
import { account, region, runFolder } from './workspace.ts';

/**
 * The code that each function runs first. All functions share one machine, which may stall for seconds, and the
 * emulator answers one query at a time, so that functions wait longer here than on AWS; test/faults tests tables that
 * are late. After each response of a function, a line on its standard output, the emulator waits 50 ms for a line on
 * its standard error. This code writes that line before each response.
 */
const firstInFunctions = `
globalThis.patience = 10;
const write = process.stdout.write.bind(process.stdout);
process.stdout.write = (...args) => {
  process.stderr.write('answer\\n');
  return write(...args);
};
`;

const settings = (port: number, edge: Edge) => ({
  GATEWAY_PORT: String(port),
  BIND_HOST: '127.0.0.1',
  MINISTACK_HOST: 'localhost',
  MINISTACK_REGION: region,
  STATE_DIR: join(runFolder, 'state'),
  IOT_MTLS_ENABLED: '0',
  // Evaluates the policies of roles and resources, as AWS does.
  AUTH: 'true',
  ...clientSettings(edge),
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(firstInFunctions)}`,
});

const clientSettings = ({ url }: Edge) => ({
  AWS_ENDPOINT_URL: url,
  AWS_CA_BUNDLE: certificateFile,
  NODE_EXTRA_CA_CERTS: certificateFile,
});

const untilReady = (port: number, child: ChildProcess): Promise<boolean> => {
  const failure = `The emulator did not start: see ${join(runFolder, 'emulator.log')}`;
  return until(async () => {
    if (child.exitCode !== null) throw new Error(failure);
    const health = fetch(`http://127.0.0.1:${port}/_ministack/health`);
    return health.then(({ ok }) => ok).catch(() => false);
  }, failure);
};

/** Starts ministack with empty state, on a port of its own, behind an edge that terminates TLS. */
export const startEmulator = async () => {
  await makeCertificate();
  const port = await freePort();
  const edge = await startEdge({ target: port });
  const child = start(pythonProgram('ministack'), [], settings(port, edge));
  const log = createWriteStream(join(runFolder, 'emulator.log'));
  child.stdout?.pipe(log);
  child.stderr?.pipe(log);
  const stop = async () => {
    edge.stop();
    await end(child);
  };
  await untilReady(port, child).catch(async (error) => {
    await stop();
    throw error;
  });
  return { place: emulatorAt(port, clientSettings(edge)), stop };
};

/** The emulator at a port of this machine. @param env the variables by which commands call it */
export const emulatorAt = (port: number, env: Place['env'], run?: string): Place => ({
  name: 'the emulator',
  account,
  region,
  env,
  port,
  call: awsClient(env),
  sealInterval: Number(sealInterval),
  adapt: adaptToEmulator,
  openApi: (apiUrl) => startGatewayEdge(port, apiUrl),
  ...(run ? { run } : {}),
});

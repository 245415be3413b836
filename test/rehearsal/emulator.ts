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
 * What each function runs first. All share one machine, which may stand still for seconds, and the
 * emulator answers one query at a time: what a function does when a table is late is for the tests
 * of faults. The emulator waits 50 ms for something on a function's standard error after each of its
 * answers, which are lines on its standard output. This writes a line there before each answer.
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

/** Starts ministack on a port of its own, with empty state, behind TLS. */
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

/** Runs `npm run prove` against an emulator, behind a proxy that injects the faults of a test. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { Call } from '../rehearsal/aws.ts';
import { endAll, run } from '../rehearsal/command.ts';
import { startEdge } from '../rehearsal/edge.ts';
import { startEmulator } from '../rehearsal/emulator.ts';
import { portOf } from '../rehearsal/place.ts';
import { installPython } from '../rehearsal/python.ts';
import { account, emptyRunFolder, region, root } from '../rehearsal/workspace.ts';
import type { Run } from './run-file.ts';

type Env = Readonly<Record<string, string | undefined>>;

export interface Ended {
  readonly status: number | null;
  readonly output: string;
}

/** An emulator that is bootstrapped, and has an administrator. */
export const startAccount = async () => {
  emptyRunFolder();
  await installPython();
  const { place, stop } = await startEmulator();
  await run('cdk', ['bootstrap', `aws://${account}/${region}`, '--no-notices'], place);
  const env = {
    ...place.env,
    ...(await administrator(place.call)),
    EMULATOR_PORT: `${portOf(place)}`,
  };
  return {
    place,
    port: portOf(place),
    /** The variables of the administrator. */
    env,
    stop: async () => {
      await stop();
      endAll();
    },
  };
};

const administrator = async (call: Call): Promise<Env> => {
  const UserName = 'administrator';
  const Statement = [{ Effect: 'Allow', Action: '*', Resource: '*' }];
  const PolicyDocument = JSON.stringify({ Version: '2012-10-17', Statement });
  await call('iam', 'create_user', { UserName });
  await call('iam', 'put_user_policy', { UserName, PolicyName: 'all', PolicyDocument });
  const { AccessKey } = await call('iam', 'create_access_key', { UserName });
  return {
    AWS_ACCESS_KEY_ID: AccessKey.AccessKeyId,
    AWS_SECRET_ACCESS_KEY: AccessKey.SecretAccessKey,
  };
};

/** Runs the command. @param watch is called with everything that is printed so far, and with the process */
export const prove = async (
  args: readonly string[],
  env: Env,
  watch: (output: string, kill: () => void) => void = () => undefined,
): Promise<Ended> => {
  const command = ['--import', './infra/installation.js', 'test/prove/prove.ts', ...args];
  // The process leads a process group of its own, as it does when it is started from a terminal.
  const child = spawn(process.execPath, command, {
    cwd: root,
    detached: true,
    env: { ...process.env, AWS_CONFIG_FILE: '/dev/null', VITEST: '', ...env },
  });
  let output = '';
  const kill = () => child.kill('SIGTERM');
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk;
      watch(output, kill);
    });
  }
  child.stdin.end();
  const [status] = await once(child, 'close');
  return { status, output };
};

/** The options that every command has. */
export const named = (folder: string): readonly string[] => [
  ...['--account', account, '--region', region, '--folder', folder],
];

export const runIn = (folder: string): Run | undefined => {
  const file = join(folder, 'run.json');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
};

/** A response in place of AWS doing a call: the code of an error, or a body. */
export type Fault = { readonly code: 'AccessDenied' | 'ExpiredToken' } | { readonly body: string };

/** A call to which a fault may apply: the operation in its header, or the path of a request without that header. */
export interface FaultyCall {
  readonly target: string;
  readonly path: string;
}

/** Starts a proxy before the emulator. @param faultOf the fault that answers a call instead of the emulator, if any */
export const startFaulty = async (
  port: number,
  faultOf: (call: FaultyCall) => Fault | undefined,
) => {
  const refuse = ({ headers, url = '' }: IncomingMessage, outgoing: ServerResponse): boolean => {
    const target = String(headers['x-amz-target'] ?? '');
    const fault = faultOf({ target, path: url });
    if (!fault) return false;
    const isXml = target === '' && !url.startsWith('/20');
    const [status, text] = answerOf(fault, isXml);
    const type = 'code' in fault ? { 'x-amzn-errortype': `${fault.code}Exception` } : {};
    outgoing.writeHead(status, {
      'content-type': isXml ? 'text/xml' : 'application/json',
      ...type,
    });
    outgoing.end(text);
    return true;
  };
  const edge = await startEdge({ target: port, refuse });
  return { env: { AWS_ENDPOINT_URL: edge.url }, stop: edge.stop };
};

const answerOf = (fault: Fault, isXml: boolean): readonly [number, string] => {
  if ('body' in fault) return [200, fault.body];
  const message = `${fault.code} by a test`;
  const error = `<Error><Code>${fault.code}</Code><Message>${message}</Message></Error>`;
  const json = JSON.stringify({ __type: `${fault.code}Exception`, message });
  return [403, isXml ? `<ErrorResponse>${error}</ErrorResponse>` : json];
};

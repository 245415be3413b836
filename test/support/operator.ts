import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { userInfo } from 'node:os';
import { Readable } from 'node:stream';
import { format } from 'node:util';
import { afterAll, inject, onTestFinished, vi } from 'vitest';
import type { AuditEntry } from '../../lib/audit/entry.ts';
import { logIn } from './client.ts';
import { type AtEnd, makeFolder } from './folder.ts';
import { startTestService } from './service.ts';
import { scan, scanAudit, usersIn } from './stored-items.ts';

/** The first line of a command on standard error while the service is stopped. */
export const saidOfStopped =
  /^The service is not running: the settings of its start of \d{4}-\d\d-\d\dT[\d:]{8}Z count\.\n/;

export interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Started {
  readonly process: ChildProcess;
  readonly ended: Promise<Ended>;
}

/** Variables of the shell that could direct a command to another service than the test's. */
const elsewhere = /^(AWS_|npm_|INIT_CWD|JWT_SECRET|DATA_DIR|USERS_TABLE|AUDIT_TABLE)/;

export const cleanEnvironment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !elsewhere.test(name)));

const forEveryCommand = {
  AWS_EC2_METADATA_DISABLED: 'true',
  // This halves the time that a command takes to start.
  NODE_COMPILE_CACHE: 'node_modules/.cache/compiled',
};

/** The destination of output: the test, a disk that is full, or a pipe that nobody reads any more. */
export type Output = 'pipe' | 'full disk' | 'closed pipe';

export interface Surroundings {
  /** The text on standard input; by default it is empty. */
  readonly input?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** The destinations of standard output and standard error; by default the test. */
  readonly output?: readonly [Output, Output];
}

/** Starts a command as `npm run operator` does. */
const startOperator = (
  args: readonly string[],
  { input = '', environment, output = ['pipe', 'pipe'] }: Surroundings = {},
): Started => {
  const sinks = output.map((sink) => (sink === 'full disk' ? openSync('/dev/full', 'w') : 'pipe'));
  const child = spawn('node', ['infra/operator/main.ts', ...args], {
    env: { ...cleanEnvironment(), ...forEveryCommand, ...environment },
    stdio: ['pipe', ...sinks],
  });
  for (const sink of sinks) if (typeof sink === 'number') closeSync(sink);
  let [stdout, stderr] = ['', ''];
  child.stdout?.on('data', (chunk) => (stdout += chunk));
  child.stderr?.on('data', (chunk) => (stderr += chunk));
  if (output[0] === 'closed pipe') child.stdout?.destroy();
  if (output[1] === 'closed pipe') child.stderr?.destroy();
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(input);
  const ended = once(child, 'close').then(([status]) => ({ status, stdout, stderr }));
  return { process: child, ended };
};

/** Runs a command in a process of its own. */
export const operateApart = (
  args: readonly string[],
  surroundings?: Surroundings,
): Promise<Ended> => startOperator(args, surroundings).ended;

/** Collects what is printed in this process, until it is restored. */
const collectOutput = () => {
  const output = { stdout: '', stderr: '' };
  const printTo =
    (stream: keyof typeof output) =>
    (...values: unknown[]) => {
      output[stream] += `${format(...values)}\n`;
    };
  const writeTo = (stream: keyof typeof output) => (text: unknown, done?: unknown) => {
    output[stream] += text;
    if (typeof done === 'function') done();
    return true;
  };
  const spies = [
    vi.spyOn(console, 'log').mockImplementation(printTo('stdout')),
    vi.spyOn(console, 'error').mockImplementation(printTo('stderr')),
    vi.spyOn(process.stdout, 'write').mockImplementation(writeTo('stdout')),
    vi.spyOn(process.stderr, 'write').mockImplementation(writeTo('stderr')),
  ];
  const restore = () => {
    for (const spy of spies) spy.mockRestore();
  };
  return { output, restore };
};

/** Runs a command in this process. */
const operateHere = async (
  args: readonly string[],
  { input = '', environment }: Surroundings,
): Promise<Ended> => {
  const before = { ...process.env };
  const surrounding = { ...cleanEnvironment(), ...forEveryCommand, ...environment };
  const setEnvironment = (variables: NodeJS.ProcessEnv) => {
    for (const name of Object.keys(process.env)) delete process.env[name];
    Object.assign(process.env, variables);
  };
  const stdin = vi.spyOn(process, 'stdin', 'get');
  stdin.mockReturnValue(Readable.from([Buffer.from(input)]) as typeof process.stdin);
  setEnvironment(surrounding);
  // As in a process of its own: the modules and settings of an earlier command are not reused.
  vi.resetModules();
  const { output, restore } = collectOutput();
  try {
    const { runCommand } = await import('../../infra/operator/run.ts');
    await runCommand(args);
    return { status: Number(process.exitCode ?? 0), ...output };
  } finally {
    process.exitCode = undefined;
    restore();
    stdin.mockRestore();
    setEnvironment(before);
    vi.resetModules();
  }
};

/**
 * Runs a command in this process, one at a time. That takes a fraction of the time of a process of its own, in which a
 * command runs only if the test chooses the destination of its output.
 */
export const operate = (
  args: readonly string[],
  surroundings: Surroundings = {},
): Promise<Ended> =>
  surroundings.output ? operateApart(args, surroundings) : operateHere(args, surroundings);

type Environment = Readonly<Record<string, string>>;

/** A service that keeps its signing secret in a folder, in which commands find the secret. */
const operatedService = async (atEnd: AtEnd, environment: Environment = {}) => {
  const folder = makeFolder(atEnd);
  const tables = { USERS_TABLE: `users-${randomUUID()}`, AUDIT_TABLE: `audit-${randomUUID()}` };
  const service = await startTestService({
    DATA_DIR: folder,
    JWT_SECRET: '',
    ...tables,
    ...environment,
  });
  atEnd(() => service.stop());
  const target = `--local=${folder}`;
  return {
    ...service,
    adminToken: await logIn(service.api, service.admin),
    folder,
    /** Runs a command on this service. */
    operate: (args: readonly string[], input = '', surroundings: Surroundings = {}) =>
      operate([...args, target], { input, ...surroundings }),
    start: (args: readonly string[]) => startOperator([...args, target]),
    users: async () =>
      [...usersIn(await scan(inject('engine'), tables.USERS_TABLE))].sort(
        (a, b) => Number(a.id) - Number(b.id),
      ),
    /** The entries of the operator's commands in the audit trail, oldest first. */
    entries: async () =>
      [...(await scanAudit(inject('engine'), tables.AUDIT_TABLE))]
        .filter(({ user_agent }) => user_agent?.startsWith('operator '))
        .sort((a, b) => a.id - b.id),
  };
};

export type OperatedService = Awaited<ReturnType<typeof operatedService>>;

/** A service for the tests of one file, which awaits it at its top. */
export const operatedServiceForThisFile = (environment?: Environment) =>
  operatedService(afterAll, environment);

/** A service for one test. */
export const operatedServiceForThisTest = (environment?: Environment) =>
  operatedService(onTestFinished, environment);

/**
 * The entry of a command, without its id and its time.
 * @param details the details besides `operator`, which by default is the account that runs the tests
 */
export const operatorEntry = (
  command: string,
  {
    details: { operator = userInfo().username, ...details } = {},
    ...fields
  }: Partial<Omit<AuditEntry, 'details'>> & {
    details?: { operator?: string; [name: string]: unknown };
  },
) => ({
  user_id: null,
  resource: 'users',
  resource_id: null,
  ip_address: null,
  user_agent: `operator ${command}`,
  result: 'SUCCESS',
  details: JSON.stringify({ ...details, operator }),
  ...fields,
});

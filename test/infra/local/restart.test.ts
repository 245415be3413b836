import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, inject, it } from 'vitest';
import { register } from '../../support/client.ts';
import { lostAmong, startLoad } from '../../support/load.ts';
import { faults, startProxy } from '../../support/proxy.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { brokenItems, scan, scanAudit } from '../../support/stored-items.ts';
import { until } from '../../support/until.ts';
import { endGroup, ownEngineForThisFile, tables } from './own-engine.ts';

/** Requests of a load that is well under way, also on a machine with other work. */
const few = 10;

/** What the service would keep of its own accord: engine, data, secret, in one folder. */
describe('A service with an engine and a data folder of its own', () => {
  const { start, running, isVacated } = ownEngineForThisFile();

  it.each([
    ['at once', false],
    ['when its engine has ended', true],
  ])(
    'still has everything that it acknowledged when it is started again %s after a kill',
    async (_, waits) => {
      const service = await start();
      const { token } = await register(service.api);
      const load = startLoad(service);
      await until(() => load.acknowledged.length > few);

      await endGroup(service.process, 'SIGKILL');
      const [acknowledged] = await Promise.all([load.stop(), waits && isVacated()]);
      const restarted = await start();

      expect(acknowledged.length).toBeGreaterThan(few);
      expect(await lostAmong(restarted, acknowledged)).toEqual([]);
      const profile = await restarted.api('GET', '/api/profile', { token });
      expect(profile.status).toBe(200);
      expect(brokenItems(await scan(running().endpoint, tables.USERS_TABLE))).toEqual([]);
      await restarted.stop();
      expect(await isVacated()).toBe(true);
    },
  );

  it.each(['SIGINT', 'SIGTERM'] as const)('ends cleanly on %s while it works', async (signal) => {
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
    await until(() => load.acknowledged.length > few);

    const code = await endGroup(service.process, signal);
    await load.stop();

    expect(code).toBe(0);
    expect(new Set(statuses)).toEqual(new Set([201]));
    expect(await isVacated()).toBe(true);
  });
});

describe('A service whose engine ends by itself', () => {
  const own = ownEngineForThisFile();

  it('responds to requests under way, says in one line that its engine has ended, and ends with 1', async () => {
    const service = await own.start();
    const account = await register(service.api);
    const ended = service.process && once(service.process, 'exit');
    own.signalEngine('SIGSTOP');
    const begun = service.api('POST', '/api/login', { json: account });
    await service.api('GET', '/api/v1/users');

    own.signalEngine('SIGKILL');

    expect((await begun).status).toBe(500);
    expect((await ended)?.[0]).toBe(1);
    expect(service.output().match(/^The DynamoDB engine .*$/gm)).toEqual([
      `The DynamoDB engine ${inject('engineName')} has ended by itself (SIGKILL): the service ends too.`,
    ]);
    await expect(service.api('GET', '/api/v1/users')).rejects.toThrow();
    expect(await own.isVacated()).toBe(true);
  });
});

describe('A service that is told to end', () => {
  it.concurrent.each(['SIGINT', 'SIGTERM'] as const)(
    'responds to requests under way (%s)',
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
      await until(() => proxy.requests.length === 2);
      const ended = service.process && once(service.process, 'exit');

      service.process?.kill(signal);
      const answers = await Promise.all(begun);

      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
      expect((await ended)?.[0]).toBe(0);
      await proxy.stop();
    },
  );

  it.concurrent('completes the request of a client that has gone away, with its audit entry', async () => {
    const proxy = await startProxy(inject('engine'));
    const service = await startTestService({ AWS_ENDPOINT_URL_DYNAMODB: proxy.url });
    const account = await register(service.api);
    proxy.forget();
    proxy.impose({ fault: faults.delay });
    const { port } = new URL(service.url);
    const socket = connect(Number(port), '127.0.0.1');
    const json = JSON.stringify(account);
    const type = 'Content-Type: application/json';
    socket.write(
      `POST /api/login HTTP/1.1\r\nHost: x\r\n${type}\r\nContent-Length: ${json.length}\r\n\r\n${json}`,
    );
    await until(() => proxy.requests.length > 0);
    const ended = service.process && once(service.process, 'exit');

    socket.destroy();
    service.process?.kill('SIGTERM');

    expect((await ended)?.[0]).toBe(0);
    const entries = await scanAudit(inject('engine'), service.environment.AUDIT_TABLE ?? '');
    expect(entries.filter(({ action }) => action === 'LOGIN')).toHaveLength(1);
    await proxy.stop();
  });

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

describe('npm start', () => {
  const own = ownEngineForThisFile();

  it.each([
    ['npm is sent SIGTERM', 'SIGTERM', 1],
    ['Ctrl-C sends SIGINT to all', 'SIGINT', -1],
    ['SIGTERM is sent to all', 'SIGTERM', -1],
  ] as const)('ends cleanly when %s', async (_, signal, target) => {
    const { npm, api } = await own.npmStart();
    expect((await api('GET', '/api/v1/users')).status).toBe(200);
    const ended = once(npm, 'exit');

    process.kill(target * Number(npm.pid), signal);

    expect(await ended).toEqual([0, null]);
    await expect(api('GET', '/api/v1/users')).rejects.toThrow('fetch failed');
    expect(await own.isVacated()).toBe(true);
  });
});

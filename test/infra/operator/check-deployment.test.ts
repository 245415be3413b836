import type { IncomingHttpHeaders } from 'node:http';
import { DeleteTableCommand } from '@aws-sdk/client-dynamodb';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { idInKey } from '../../../lib/options/machines/key.ts';
import { register } from '../../support/client.ts';
import { everySetting } from '../../support/every-setting.ts';
import { startLoopback } from '../../support/loopback.ts';
import {
  type OperatedService,
  operate,
  operatedServiceForThisFile,
  operatedServiceForThisTest,
} from '../../support/operator.ts';
import { engineClient, scanAudit } from '../../support/stored-items.ts';
import { awsForThisTest } from './aws.ts';

const on = { ...everySetting, V1_USERS: 'on', DOCS: 'on', CONSOLE: 'on' };
const services = {
  'by default': await operatedServiceForThisFile(),
  'with every setting on': await operatedServiceForThisFile(on),
} as const;
const service = services['by default'];

const check = (of: OperatedService, args: readonly string[] = [], token = '') =>
  of.operate(['check-deployment', '--seconds', '0', ...args], '', {
    environment: token ? { ACCOUNTS_TOKEN: token } : {},
  });

describe('check-deployment', () => {
  it.each(Object.entries(services))('finds no fault in a good service %s', async (_, good) => {
    const { status, stdout } = await check(good);

    expect(stdout).toMatch(
      /^http:\/\/localhost:\d+: \d+ requests, 0 faults, 0 unknown\.\nIt works\.\nNot reached \(.*\): .*GET \/api\/profile, /,
    );
    expect(status).toBe(0);
  });

  it.each(Object.entries(services))(
    'reads everything of a good service %s with the token of an admin',
    async (_, good) => {
      const { status, stdout } = await check(good, ['--json'], good.adminToken);

      const { faults, unknown, outcome, notReached } = JSON.parse(stdout);
      expect([faults, unknown, notReached]).toEqual([[], [], []]);
      expect([status, outcome]).toEqual([0, 'works']);
    },
  );

  it('finds no fault in a deployed service that declares attributes', async () => {
    const { environment } = await awsForThisTest(service, {
      Settings: { API_URL: service.url, USER_ATTRIBUTES: 'f'.repeat(64) },
    });

    const { status, stdout } = await operate(
      ['check-deployment', '--seconds', '0', '--stack', 'accounts', '--url', service.url],
      { environment: { ...environment, ACCOUNTS_TOKEN: service.adminToken } },
    );

    expect(stdout).toContain('It works.');
    expect(status).toBe(0);
  });

  it('names the routes that a token may not read', async () => {
    const { token } = await register(service.api);

    const { status, stdout } = await check(service, [], token);

    expect(stdout).toMatch(/\nNot reached .*: GET \/api\/admin\/audit-logs, /);
    expect(status).toBe(0);
  });

  it('logs in once, by an address that nobody has, and leaves only the entry of that login', async () => {
    const { environment, operate: run } = await operatedServiceForThisTest();
    const entries = () => scanAudit(inject('engine'), environment.AUDIT_TABLE ?? '');
    const before = new Set((await entries()).map(({ id }) => id));

    await run(['check-deployment']);

    const left = (await entries()).filter(({ id }) => !before.has(id));
    expect(left.map(({ action, result }) => `${action} ${result}`)).toEqual(['LOGIN FAILURE']);
  });

  it('finds a missing table', async () => {
    const broken = await operatedServiceForThisTest();
    const TableName = broken.environment.USERS_TABLE;
    await engineClient(inject('engine')).send(new DeleteTableCommand({ TableName }));

    const { status, stdout } = await check(broken);

    expect(stdout).toMatch(/^POST \/api\/login of an address that nobody has: 500 STORAGE_FAULT\n/);
    expect(stdout).toContain('\nFAULT: deploy the version before again');
    expect(status).toBe(1);
  });

  /** A gateway before a service, which answers some requests itself. */
  const behind = async (
    statusOf: (route: string, headers: IncomingHttpHeaders) => number | undefined,
    service: OperatedService = services['by default'],
  ): Promise<string> => {
    const { url, stop } = await startLoopback(async (incoming, body, response) => {
      const { method = '', url: path = '', headers } = incoming;
      const own = statusOf(`${method} ${path}`, headers);
      if (own) return response.writeHead(own).end('{"message":"Internal Server Error"}');
      const passedOn = ['authorization', 'content-type', 'machine-key', 'client-address'];
      const kept = passedOn.flatMap((name) =>
        headers[name] ? [[name, String(headers[name])]] : [],
      );
      const sent = { method, headers: Object.fromEntries(kept), ...(body ? { body } : {}) };
      const answer = await fetch(service.url + path, { ...sent, redirect: 'manual' });
      const names = ['content-type', 'error-code'].filter((name) => answer.headers.has(name));
      const back = names.map((name) => [name, String(answer.headers.get(name))]);
      response.writeHead(answer.status, Object.fromEntries(back)).end(await answer.text());
    });
    onTestFinished(stop);
    return `--url=${url}/`;
  };

  it('finds a function that dies at its start by the response of the gateway', async () => {
    const url = await behind((route) => (route === 'GET /api/profile' ? 500 : undefined));

    const { status, stdout } = await check(service, [url, '--seconds=120']);

    expect(stdout).toMatch(
      /^GET \/api\/profile without a token: 500\nGET \/api\/profile with a forged token: 500\nhttp.*, 2 faults,/,
    );
    expect(status).toBe(1);
  });

  it('finds functions that cannot read machines, by forged keys', async () => {
    const machined = services['with every setting on'];
    const url = await behind((_, { authorization = '', 'machine-key': key = '' }) => {
      const forged = idInKey(authorization.slice('Bearer '.length)) ?? idInKey(String(key));
      return forged === undefined ? undefined : 500;
    }, machined);

    const { status, stdout } = await check(machined, [url, '--json']);

    const { faults, unknown } = JSON.parse(stdout);
    const titles = faults.map(({ title }: { title: string }) => title);
    expect([status, unknown]).toEqual([1, []]);
    expect(titles).toContain('GET /api/machines with a forged key');
    expect(titles).toContain('POST /api/login of a backend with a forged key');
    expect(titles).not.toContain('GET /api/v1/users of a backend with a forged key');
  });

  it('tries again after one wrong response', async () => {
    let asked = 0;
    const url = await behind((route) =>
      route === 'GET /api/profile' && asked++ === 0 ? 500 : undefined,
    );

    expect((await check(service, [url, '--seconds=120'])).status).toBe(0);
  });

  it.each([
    ['requests are throttled', () => behind(() => 429)],
    ['nobody answers', async () => '--url=http://127.0.0.1:1'],
    ['the name is not known', async () => '--url=https://accounts.invalid'],
  ])('ends with 2 while %s', async (_, open) => {
    const { status, stdout } = await check(service, [await open()]);

    expect(stdout).toContain(', 0 faults, ');
    expect(stdout).toContain('\nCANNOT TELL: do not deploy the version before; find out why.\n');
    expect(status).toBe(2);
  });

  it('ends with 2 if its token is no longer valid', async () => {
    const [head, claims] = service.adminToken.split('.');

    const { status, stdout } = await check(service, [], `${head}.${claims}.none`);

    expect(stdout).toContain('GET /api/profile with ACCOUNTS_TOKEN: 401 TOKEN_INVALID\n');
    expect(status).toBe(2);
  });

  describe('refuses', () => {
    it.each([
      ['a text that is no token', 'x', [], 'ACCOUNTS_TOKEN is not a token of this service'],
      ['a text that is no address', '', ['--url=accounts'], '--url must be an address'],
      ['a text that is no time', '', ['--seconds=soon'], '--seconds must be a number'],
    ])('%s', async (_, token, args, message) => {
      const { status, stderr } = await check(service, args, token);

      expect(stderr).toContain(message);
      expect(status).toBe(2);
    });

    it('to guess the address of a service behind CloudFront', async () => {
      const { environment } = await awsForThisTest(service, { EdgeSecretArn: 'arn:edge' });

      const { status, stderr } = await operate(['check-deployment', '--stack', 'a'], {
        environment,
      });

      expect(stderr).toContain(
        '--url is required: this service responds to requests through CloudFront only.',
      );
      expect(status).toBe(2);
    });
  });
});

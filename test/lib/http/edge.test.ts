import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Handler } from '../../../lib/http/request.ts';
import { gatewayEvent } from '../../support/event.ts';
import { startLoopback } from '../../support/loopback.ts';

const value = 'v'.repeat(64);
const viewer = '203.0.113.7:46532';

/** The secret in Secrets Manager, and how often it was read; undefined: the read is refused. */
let stored: string | undefined;
let reads: number;
let stop: () => Promise<void>;
let handler: Handler;

beforeEach(async () => {
  [stored, reads] = [value, 0];
  const secrets = await startLoopback((_, body, response) => {
    reads += 1;
    const isKnown = stored !== undefined && JSON.parse(body).SecretId === 'edge';
    response.statusCode = isKnown ? 200 : 400;
    response.end(JSON.stringify({ SecretString: stored }));
  });
  stop = secrets.stop;
  vi.stubEnv('EDGE_SECRET_ID', 'edge');
  vi.stubEnv('SECRETS_URL', secrets.url);
  vi.stubEnv('AWS_REGION', 'us-east-1');
  vi.spyOn(console, 'error').mockReturnValue();
  vi.resetModules();
  const { publicEndpoint } = await import('../../../lib/http/endpoint.ts');
  const contract = { route: 'GET /x', may: 'public' } as const;
  handler = publicEndpoint(contract, (request) => ({
    statusCode: 200,
    body: request.source.ip_address,
  }));
});

afterEach(async () => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  await stop();
});

const get = async (headers: Readonly<Record<string, string>>) => {
  const { statusCode, body = '' } = await handler(gatewayEvent({ method: 'GET', headers }), {});
  return [statusCode, JSON.parse(body)];
};
const through = (header = value, address = viewer) =>
  get({ 'x-origin-verify': header, 'cloudfront-viewer-address': address });

const forbidden = [403, { message: 'Forbidden' }];

describe('A request to a service behind CloudFront', () => {
  it.each([
    ['an IPv4 address', '203.0.113.7:46532', '203.0.113.7'],
    ['an IPv6 address', '2001:db8:0:0:0:0:0:1:443', '2001:db8:0:0:0:0:0:1'],
    ['a short IPv6 address', '2001:DB8::1:65535', '2001:DB8::1'],
    ['an IPv6 address in brackets', '[2001:db8::1]:443', '2001:db8::1'],
  ])('comes from the viewer that CloudFront names by %s', async (_, address, source) => {
    expect(await through(value, address)).toEqual([200, source]);
  });

  it.each([
    ['without the header', undefined],
    ['with an empty header', ''],
    ['with another value', 'w'.repeat(64)],
    ['with a part of the value', value.slice(1)],
    ['with a longer value', `${value}v`],
    ['with the value twice, as the gateway joins headers', `${value},${value}`],
    ['with the value and a forged one', `forged,${value}`],
    ['with a space for a value', ' '],
  ])('is refused %s, whatever viewer it names', async (_, header) => {
    const origin = header === undefined ? {} : { 'x-origin-verify': header };

    expect(await get({ ...origin, 'cloudfront-viewer-address': '198.51.100.1:1' })).toEqual(
      forbidden,
    );
  });

  // biome-ignore format: a table
  it.each([
    '203.0.113.7', '203.0.113.7:', ':443', '203.0.113.7:46532,198.51.100.1:1',
    '203.0.113.7:46532 ', '203.0.113.07:1', '[203.0.113.7:46532', '2001:db8::1%eth0:443',
    'unknown:443', '',
  ])('fails where CloudFront does not name the viewer: %j', async (address) => {
    const fault = { message: 'Internal server error', err: 'NoViewerAddress' };
    expect(await through(value, address)).toEqual([500, fault]);
  });
});

describe('The value of the header', () => {
  it('is read once, and again after five minutes, so that a new value replaces the old one', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    await through();
    await through('wrong');
    expect(reads).toBe(1);

    stored = `new ${value}`;
    vi.setSystemTime(Date.now() + 300_000);
    expect([await through(), await through('new')].map(([status]) => status)).toEqual([200, 200]);
    stored = 'new';
    vi.setSystemTime(Date.now() + 300_000);
    expect(await through()).toEqual(forbidden);
    expect(reads).toBe(3);
  });

  it('causes a response of 500 until it can be read', async () => {
    stored = undefined;
    const fault = { message: 'Internal server error', err: 'Http400' };
    expect(await through()).toEqual([500, fault]);

    stored = value;
    expect(await through()).toEqual([200, '203.0.113.7']);
  });

  it('stays in use while it cannot be read again', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    await through();
    stored = undefined;
    vi.setSystemTime(Date.now() + 300_000);

    expect([await through(), await through('wrong')].map(([status]) => status)).toEqual([200, 403]);
    expect(reads).toBe(2);
  });

  it('lets nobody through while the secret is empty', async () => {
    stored = ' ';

    expect([await through(''), await through(' ')]).toEqual([forbidden, forbidden]);
  });
});

it('A service that is not behind CloudFront ignores the viewer that a request names', async () => {
  vi.stubEnv('EDGE_SECRET_ID', '');

  expect([await through(), await through('')]).toEqual([
    [200, '192.0.2.1'],
    [200, '192.0.2.1'],
  ]);
  expect(reads).toBe(0);
});

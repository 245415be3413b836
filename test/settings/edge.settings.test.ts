import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { register } from '../support/client.ts';
import { startLoopback } from '../support/loopback.ts';
import { startTestService } from '../support/service.ts';
import { scanAudit } from '../support/stored-items.ts';

const value = 'v'.repeat(64);

/** Starts a service behind CloudFront. */
const startBehindCloudFront = async () => {
  const secrets = await startLoopback((_request, _body, response) =>
    response.end(JSON.stringify({ SecretString: value })),
  );
  const service = await startTestService(
    { EDGE_SECRET_ID: 'edge', SECRETS_URL: secrets.url, REGISTRATIONS_PER_ADDRESS: '1' },
    {},
  );
  onTestFinished(async () => {
    await service.stop();
    await secrets.stop();
  });
  return service;
};

describe('Behind CloudFront', () => {
  it('limits and the audit trail use the address of the viewer', async () => {
    const { api, environment } = await startBehindCloudFront();
    const by = (address: string) => ({
      'X-Origin-Verify': value,
      'CloudFront-Viewer-Address': `${address}:443`,
    });
    const registering = (address: string) =>
      register((method, path, options) => api(method, path, { ...options, headers: by(address) }));

    await registering('203.0.113.1');
    await registering('2001:db8::2');

    await expect(registering('203.0.113.1')).rejects.toThrow('429');
    const entries = await scanAudit(inject('engine'), environment.AUDIT_TABLE ?? '');
    expect(
      entries
        .map(({ ip_address }) => ip_address)
        .filter(Boolean)
        .sort(),
    ).toEqual(['2001:db8::2', '203.0.113.1']);
  });

  it('every function refuses a request that has not come through CloudFront', async () => {
    const { url } = await startBehindCloudFront();
    const address = ['cloudfront-viewer-address', '203.0.113.1:443'] as const;
    const secret = ['x-origin-verify', value] as const;

    for (const path of ['/api/profile', '/api/v1/users', '/openapi.json', '/console']) {
      for (const headers of [[address], [address, secret, secret]]) {
        const answer = await fetch(url + path, { headers: headers.map(([...pair]) => pair) });
        expect([path, answer.status, await answer.json()]).toEqual([
          path,
          403,
          { message: 'Forbidden' },
        ]);
      }
    }
  });
});

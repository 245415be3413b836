import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { handOver } from '../../lib/mail/hand-over.ts';
import type { MailMessage } from '../../lib/mail/message.ts';

/** Milliseconds within which a request that nobody takes is answered; the limits are two seconds. */
const longestWait = 4000;

const message: MailMessage = {
  ...{ kind: 'reset', email: 'a@example.org', request_id: 'r', ip_address: '192.0.2.1' },
  ...{ user_agent: 'test', time: '2026-11-21T09:05:00.000Z' },
};

describe('Handing a message over', () => {
  let server: Server;
  let requests = 0;
  beforeAll(async () => {
    vi.stubEnv('STORAGE_PATIENCE', '1');
    server = createServer(() => {
      requests += 1;
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    vi.stubEnv('MAIL_FUNCTION_URL', `http://127.0.0.1:${port}/invoke`);
  });
  afterAll(() => {
    vi.unstubAllEnvs();
    server.closeAllConnections();
    server.close();
  });

  it('ends in time when nobody answers, after a second attempt', { retry: 2 }, async () => {
    requests = 0;
    const startedAt = performance.now();

    await expect(handOver(message)).rejects.toMatchObject({ code: 'MAIL_FAULT' });

    expect(performance.now() - startedAt).toBeLessThan(longestWait);
    expect(requests).toBe(2);
  });
});

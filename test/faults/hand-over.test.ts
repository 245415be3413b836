import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
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
  let answer: (respond: (status: number) => void, cut: () => void) => void = () => undefined;
  beforeAll(async () => {
    vi.stubEnv('STORAGE_PATIENCE', '1');
    server = createServer((request, response) => {
      requests += 1;
      const respond = (status: number) => {
        response.writeHead(status);
        response.end();
      };
      answer(respond, () => request.socket.destroy());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    vi.stubEnv('MAIL_FUNCTION_URL', `http://127.0.0.1:${port}/invoke`);
  });
  afterEach(() => {
    requests = 0;
  });
  afterAll(() => {
    vi.unstubAllEnvs();
    server.closeAllConnections();
    server.close();
  });

  it('ends in time when nobody answers, after a second attempt', { retry: 2 }, async () => {
    answer = () => undefined;
    const startedAt = performance.now();

    await expect(handOver(message)).rejects.toMatchObject({ code: 'MAIL_FAULT' });

    expect(performance.now() - startedAt).toBeLessThan(longestWait);
    expect(requests).toBe(2);
  });

  it.each([400, 403, 404, 429, 500, 503, 200])('is not done by status %i', async (status) => {
    answer = (respond) => respond(status);

    await expect(handOver(message)).rejects.toMatchObject({ code: 'MAIL_FAULT' });

    expect(requests).toBe(2);
  });

  it('is done by a second attempt when a connection is cut', async () => {
    answer = (respond, cut) => (requests === 1 ? cut() : respond(202));

    await handOver(message);

    expect(requests).toBe(2);
  });
});

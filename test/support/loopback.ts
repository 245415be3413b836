/** A server on this machine, which stands in for a service of AWS. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/**
 * @param answer is called for each request with its body, as text and as bytes; it ends the response or the connection
 */
export const startLoopback = async (
  answer: (
    request: IncomingMessage,
    body: string,
    response: ServerResponse,
    bytes: Buffer,
  ) => unknown,
): Promise<{ readonly url: string; stop(): Promise<void> }> => {
  // If the server closed an idle connection while a late client used it again, the request would fail.
  const server = createServer({ keepAliveTimeout: 600_000 }, async (request, response) => {
    const bytes = await buffer(request);
    return answer(request, bytes.toString(), response, bytes);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const stop = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop };
};

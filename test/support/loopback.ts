/** A server on this machine, which stands in for a service of AWS. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** @param answer gets each request with its body, and ends the response or its connection */
export const startLoopback = async (
  answer: (request: IncomingMessage, body: string, response: ServerResponse) => unknown,
): Promise<{ readonly url: string; stop(): Promise<void> }> => {
  const server = createServer(async (request, response) =>
    answer(request, await text(request), response),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const stop = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop };
};

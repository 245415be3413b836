import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * These ports are below the ports that operating systems assign to connections, and to programs that request any port.
 */
const apart = { from: 20_000, to: 30_000 };

const maxAttempts = 100;

/**
 * A port that is not in use at any address of this machine, as dynoxide requires. Before the caller uses the port, only
 * a program that requests exactly this port can get it.
 * @param range the first port, and the port after the last one
 * @throws {Error} if no free port is found
 */
export async function freePort({ from, to } = apart): Promise<number> {
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const port = randomInt(from, to);
    const server = createServer().listen(port);
    const isFree = await once(server, 'listening').then(Boolean, () => false);
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
  throw new Error('No free port was found');
}

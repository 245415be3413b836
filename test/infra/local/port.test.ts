import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { freePort } from '../../../infra/local/port.ts';

it('A port that another program uses at one address counts as taken at every address', async () => {
  const port = await freePort();
  const taken = createServer().listen(port, '127.0.0.1');
  await once(taken, 'listening');
  onTestFinished(() => void taken.close());

  const found = freePort({ from: port, to: port + 1 });

  await expect(found).rejects.toThrow('No free port was found');
});

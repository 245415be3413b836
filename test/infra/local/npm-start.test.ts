import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { ownEngineForThisFile } from './own-engine.ts';

describe('npm start', { timeout: 180_000 }, () => {
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

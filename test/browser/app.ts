/** A web app on an origin of its own. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll } from 'vitest';

/**
 * Serves an app for the tests of one file.
 * @param files returns the scripts by their paths, at each request; any other path is the page
 * @param script the script of the page
 * @returns the origin of the app
 */
export const appForThisFile = async (
  files: () => Readonly<Record<string, string>>,
  script: string,
): Promise<string> => {
  const html = `<!doctype html><title>App</title><script type="module">${script}</script>`;
  const app = createServer(({ url = '' }, response) => {
    const type = url.endsWith('.js') ? 'text/javascript' : 'text/html';
    response.setHeader('content-type', type).end(files()[url] ?? html);
  });
  app.listen(0, 'localhost');
  await once(app, 'listening');
  afterAll(() => app.close());
  return `http://localhost:${(app.address() as AddressInfo).port}`;
};

import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface SecretsManager {
  readonly endpoint: string;
  /** The headers of every request so far. */
  readonly requests: readonly IncomingHttpHeaders[];
  stop(): Promise<void>;
}

/** Answers GetSecretValue with a secret that was never rotated, and nothing else. */
export const startSecretsManager = async (secret: string): Promise<SecretsManager> => {
  const requests: IncomingHttpHeaders[] = [];
  const server = createServer(async (request, response) => {
    requests.push(request.headers);
    const { VersionStage } = JSON.parse(await new Response(request).text());
    const current = VersionStage === 'AWSCURRENT';
    response.statusCode = current ? 200 : 400;
    response.setHeader('content-type', 'application/x-amz-json-1.1');
    response.end(
      JSON.stringify(
        current
          ? { VersionId: 'version', SecretString: secret, CreatedDate: 1_795_251_900 }
          : { __type: 'ResourceNotFoundException' },
      ),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const stop = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  return { endpoint: `http://127.0.0.1:${port}`, requests, stop };
};

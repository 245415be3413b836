import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface SecretsManager {
  readonly endpoint: string;
  /** The headers of every request so far. */
  readonly requests: readonly IncomingHttpHeaders[];
  stop(): Promise<void>;
}

/** The value of a version of a secret, and its age in hours. */
export interface StoredSecret {
  readonly value: string;
  readonly age: number;
}

const answerOf = ({ value, age }: StoredSecret, now: number) => ({
  VersionId: value,
  SecretString: value,
  CreatedDate: now / 1000 - age * 3600,
});

/** Answers GetSecretValue with one secret, as Secrets Manager does, and nothing else. */
export const startSecretsManager = async (
  secret: { readonly AWSCURRENT: StoredSecret } & Readonly<Record<string, StoredSecret>>,
): Promise<SecretsManager> => {
  const requests: IncomingHttpHeaders[] = [];
  const now = Date.now();
  const server = createServer(async (request, response) => {
    requests.push(request.headers);
    const version = secret[JSON.parse(await text(request)).VersionStage];
    response.statusCode = version ? 200 : 400;
    response.setHeader('content-type', 'application/x-amz-json-1.1');
    const answer = version ? answerOf(version, now) : { __type: 'ResourceNotFoundException' };
    response.end(JSON.stringify(answer));
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

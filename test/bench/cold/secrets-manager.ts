import type { IncomingHttpHeaders } from 'node:http';
import { startLoopback } from '../../support/loopback.ts';

export interface SecretsManager {
  readonly endpoint: string;
  /** The headers of every request so far, and the stages that they asked for. */
  readonly requests: readonly IncomingHttpHeaders[];
  readonly stages: readonly string[];
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
  const stages: string[] = [];
  const now = Date.now();
  const { url: endpoint, stop } = await startLoopback((request, body, response) => {
    requests.push(request.headers);
    const { VersionStage } = JSON.parse(body);
    stages.push(VersionStage);
    const version = secret[VersionStage];
    response.statusCode = version ? 200 : 400;
    response.setHeader('content-type', 'application/x-amz-json-1.1');
    const answer = version ? answerOf(version, now) : { __type: 'ResourceNotFoundException' };
    response.end(JSON.stringify(answer));
  });
  return { endpoint, requests, stages, stop };
};

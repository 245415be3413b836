import type { IncomingHttpHeaders } from 'node:http';
import { AwsRefusal, startAws } from '../../support/aws.ts';

/** The value of a version of a secret, and its age in hours. */
export interface StoredSecret {
  readonly value: string;
  readonly age: number;
}

export type SecretsManager = Awaited<ReturnType<typeof startSecretsManager>>;

/** Responds to GetSecretValue with one secret, as Secrets Manager does, and to nothing else. */
export const startSecretsManager = async (
  secret: { readonly AWSCURRENT: StoredSecret } & Readonly<Record<string, StoredSecret>>,
) => {
  /** The headers of every request so far, and the stages that the requests named. */
  const requests: IncomingHttpHeaders[] = [];
  const stages: string[] = [];
  const now = Date.now();
  const GetSecretValue = ({ VersionStage }: { VersionStage: string }) => {
    stages.push(VersionStage);
    const version = secret[VersionStage];
    if (!version) throw new AwsRefusal('ResourceNotFoundException');
    const { value, age } = version;
    return { VersionId: value, SecretString: value, CreatedDate: now / 1000 - age * 3600 };
  };
  const { url: endpoint, stop } = await startAws({
    operations: { GetSecretValue },
    faultOf: ({ headers }) => {
      requests.push(headers);
      return undefined;
    },
  });
  return { endpoint, requests, stages, stop };
};

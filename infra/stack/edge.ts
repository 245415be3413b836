import { RemovalPolicy, Validations } from 'aws-cdk-lib';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Construct } from 'constructs';
import type { DeploymentSettings } from '../deployment-settings.ts';

/**
 * Creates the secret with the value of the header by which functions know that a request has come
 * through CloudFront, where the settings say so (lib/http/edge.ts). It is not the signing secret, because
 * functions that neither sign nor verify read it too.
 */
export const createEdgeSecret = (
  scope: Construct,
  { edge }: DeploymentSettings,
  dataKey: IKey | undefined,
): Secret | undefined => {
  if (edge === 'none') return undefined;
  const secret = new Secret(scope, 'EdgeSecret', {
    description: 'The value of the header x-origin-verify, which CloudFront adds to requests',
    generateSecretString: { passwordLength: 64, excludePunctuation: true },
    removalPolicy: RemovalPolicy.DESTROY,
    ...(dataKey ? { encryptionKey: dataKey } : {}),
  });
  Validations.of(secret).acknowledge({
    id: 'AwsSolutions-SMG4',
    reason:
      'Whoever replaces the value also replaces it in the distribution, which is not of this stack.',
  });
  return secret;
};

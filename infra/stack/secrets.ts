import { RemovalPolicy, Validations } from 'aws-cdk-lib';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Construct } from 'constructs';
import type { DeploymentSettings } from '../deployment-settings.ts';
import { removalOf } from './kept.ts';

/** The secret that signs tokens and cursors. @param dataKey absent: a key that AWS manages encrypts the secret */
export function createSigningSecret(
  scope: Construct,
  settings: DeploymentSettings,
  dataKey: IKey | undefined,
): Secret {
  return createSecret(scope, 'SigningSecret', dataKey, {
    description: 'Signs the tokens of the service; rotated by an operator',
    removalPolicy: removalOf(settings),
    reason:
      'An operator command rotates it; both versions verify tokens for a day. A rotation function would need the permission to write the secret, which no function has.',
  });
}

/**
 * The secret with the value of the header that tells functions that a request has come through CloudFront
 * (lib/http/edge.ts). It is not the signing secret, because functions that neither sign nor verify also read it.
 */
export function createEdgeSecret(scope: Construct, dataKey: IKey | undefined): Secret {
  return createSecret(scope, 'EdgeSecret', dataKey, {
    description: 'The value of the header x-origin-verify, which CloudFront adds to requests',
    removalPolicy: RemovalPolicy.DESTROY,
    reason:
      'Whoever replaces the value also replaces it in the distribution, which is not of this stack.',
  });
}

/** Creates a secret with a random value. @param options.reason why the secret is not rotated automatically */
function createSecret(
  scope: Construct,
  id: string,
  dataKey: IKey | undefined,
  { reason, ...options }: { description: string; removalPolicy: RemovalPolicy; reason: string },
): Secret {
  const secret = new Secret(scope, id, {
    ...options,
    // 64 letters and digits have 381 bits of entropy; HS256 requires 256.
    generateSecretString: { passwordLength: 64, excludePunctuation: true },
    ...(dataKey ? { encryptionKey: dataKey } : {}),
  });
  Validations.of(secret).acknowledge({ id: 'AwsSolutions-SMG4', reason });
  return secret;
}

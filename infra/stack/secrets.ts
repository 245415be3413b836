import { RemovalPolicy, Validations } from 'aws-cdk-lib';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Construct } from 'constructs';

interface SecretOptions {
  /** Whether the secret is kept when the stack is deleted. */
  readonly keep: boolean;
  /** The key that encrypts the secret; absent: a key that AWS manages. */
  readonly dataKey: IKey | undefined;
}

/** The secret that signs tokens and cursors. */
export function createSigningSecret(scope: Construct, options: SecretOptions): Secret {
  return createSecret(scope, 'SigningSecret', {
    ...options,
    description: 'Signs the tokens of the service; rotated by an operator',
    reason:
      'An operator command rotates it; both versions verify tokens for a day. A rotation function would need the permission to write the secret, which no function has.',
  });
}

/**
 * The secret with the value of the header that tells functions that a request has come through CloudFront
 * (lib/http/edge.ts). It is not the signing secret, because functions that neither sign nor verify also read it.
 */
export function createEdgeSecret(scope: Construct, dataKey: IKey | undefined): Secret {
  return createSecret(scope, 'EdgeSecret', {
    keep: false,
    dataKey,
    description: 'The value of the header x-origin-verify, which CloudFront adds to requests',
    reason:
      'Whoever replaces the value also replaces it in the distribution, which is not of this stack.',
  });
}

/** Creates a secret with a random value. @param options.reason why the secret is not rotated automatically */
function createSecret(
  scope: Construct,
  id: string,
  options: SecretOptions & { readonly description: string; readonly reason: string },
): Secret {
  const { description, reason, keep, dataKey } = options;
  const secret = new Secret(scope, id, {
    description,
    // 64 letters and digits have 381 bits of entropy; HS256 requires 256.
    generateSecretString: { passwordLength: 64, excludePunctuation: true },
    removalPolicy: keep ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    ...(dataKey ? { encryptionKey: dataKey } : {}),
  });
  Validations.of(secret).acknowledge({ id: 'AwsSolutions-SMG4', reason });
  return secret;
}

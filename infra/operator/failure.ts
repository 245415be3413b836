import { DomainError, faultName } from '../../lib/ground/errors.ts';
import { ConfigError } from '../../lib/ground/setting.ts';

/** A command has failed; the message is a sentence that says what to do. */
export class Failure extends Error {
  override readonly name = 'Failure';
}

export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/**
 * The message for the engineer. The text of an error that is not our own is shown only if it is about missing
 * permissions, because other texts may quote what the engineer has entered.
 */
export function explain(error: unknown): string {
  if (error instanceof Failure || error instanceof UsageError) return error.message;
  if (hasClearMessage(error)) return `${error.message}.`;
  const name = faultName(error);
  const fault = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const known = fault instanceof Error ? explainFault(fault, name) : undefined;
  return known ?? `The command failed: ${name}.`;
}

function hasClearMessage(error: unknown): error is Error {
  return (
    error instanceof ConfigError || (error instanceof DomainError && error.code !== 'STORAGE_FAULT')
  );
}

const credentials =
  'AWS does not accept the credentials: choose others with AWS_PROFILE, or renew expired ones (aws sso login).';

const byName: Readonly<Record<string, string>> = {
  CredentialsProviderError:
    'There are no usable AWS credentials: set AWS_PROFILE, or log in with aws sso login or aws configure.',
  ExpiredToken: credentials,
  ExpiredTokenException: credentials,
  InvalidClientTokenId: credentials,
  UnrecognizedClientException: credentials,
  InvalidSignatureException: credentials,
  SignatureDoesNotMatch: credentials,
  ResourceNotFoundException:
    'A table or the secret of the service does not exist: check --stack and AWS_REGION; on this machine, run npm start once.',
  ECONNREFUSED:
    'Nothing responds at the address: check the network, and AWS_ENDPOINT_URL_DYNAMODB or AWS_ENDPOINT_URL if it is set.',
  ENOTFOUND: 'There is no address of this AWS region: check the network and AWS_REGION.',
  TimeoutError: 'The store did not respond in time: try again.',
  ThrottlingException: 'AWS limits the rate of requests: try again in a minute.',
};

function explainFault(fault: Error, name: string): string | undefined {
  if (fault.message.startsWith('Region is missing'))
    return 'There is no AWS region: set AWS_REGION.';
  if (/AccessDenied/.test(name)) return `The AWS credentials lack a permission: ${fault.message}`;
  if (/does not have the specified index/.test(fault.message)) {
    return `A table lacks an index that this version needs: on this machine run npm start once, which adds it; on AWS deploy this version first. (${name})`;
  }
  const known = byName[name];
  return known && `${known} (${name})`;
}

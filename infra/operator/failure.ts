import { faultName } from '../../lib/errors.ts';

/** Why a command could not do its work, in a sentence that says what to do. */
export class Failure extends Error {
  override readonly name = 'Failure';
}

/** A command that was typed wrongly. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

const credentials =
  'AWS does not accept the credentials: choose some by AWS_PROFILE, and renew them where they expire (aws sso login).';

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
    'A table or the secret of the service is not there: check --stack and AWS_REGION; on this machine, run npm start once.',
  ECONNREFUSED: 'Nothing answers at the address: check the network and AWS_ENDPOINT_URL.',
  ENOTFOUND: 'The address of the AWS region is not known: check the network and AWS_REGION.',
  TimeoutError: 'The store did not answer in time: try again.',
  ThrottlingException: 'AWS limits the rate of requests: try again in a minute.',
};

const denied = (cause: Error) =>
  /AccessDenied/.test(cause.name) ? `The AWS credentials do not suffice: ${cause.message}` : '';

const noRegion = (cause: Error) =>
  cause.message.startsWith('Region is missing') ? 'There is no AWS region: set AWS_REGION.' : '';

/**
 * What to tell the engineer of an error. Text of an error that is not our own nor about access is
 * left out: it may quote what it was given.
 */
export const explain = (error: unknown): string => {
  if (error instanceof Failure || error instanceof UsageError) return error.message;
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const name = faultName(error);
  if (cause instanceof Error && noRegion(cause)) return noRegion(cause);
  const known = cause instanceof Error && (denied(cause) || byName[name]);
  return known ? `${known} (${name})` : `The command failed: ${name}.`;
};

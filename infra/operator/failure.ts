import { DomainError, faultName } from '../../lib/errors.ts';
import { ConfigError } from '../../lib/settings.ts';

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

/** The sentence for a fault of AWS, an engine or the network, as far as there is one. */
const explainFault = (fault: Error, name: string): string | undefined => {
  if (fault.message.startsWith('Region is missing'))
    return 'There is no AWS region: set AWS_REGION.';
  if (/AccessDenied/.test(name)) return `The AWS credentials do not suffice: ${fault.message}`;
  const known = byName[name];
  return known && `${known} (${name})`;
};

const speaksForItself = (error: unknown): error is Error =>
  error instanceof ConfigError || (error instanceof DomainError && error.code !== 'STORAGE_FAULT');

/**
 * What to tell the engineer of an error. Text of an error that is not our own nor about access is
 * left out: it may quote what it was given.
 */
export const explain = (error: unknown): string => {
  if (error instanceof Failure || error instanceof UsageError) return error.message;
  if (speaksForItself(error)) return `${error.message}.`;
  const name = faultName(error);
  const fault = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const known = fault instanceof Error ? explainFault(fault, name) : undefined;
  return known ?? `The command failed: ${name}.`;
};

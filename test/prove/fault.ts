/** A sentence that says what to do about a fault of AWS. */
import { explain } from '../../infra/operator/failure.ts';

/** Faults of the library that calls AWS. */
const sentences: Readonly<Record<string, string>> = {
  NoCredentialsError:
    'There are no AWS credentials: set AWS_PROFILE, or log in with aws sso login or aws configure.',
  ProfileNotFound: 'AWS_PROFILE names a profile that does not exist: aws configure list-profiles.',
  EndpointConnectionError: 'AWS cannot be reached: check the network and --region.',
  ConnectTimeoutError: 'AWS cannot be reached: check the network and --region.',
};

/** Whether a text says that credentials are no longer valid. */
export const saysExpired = (text: string): boolean =>
  /ExpiredToken|SSOToken|TokenRetrieval|InvalidClientTokenId|security token.{0,40}(expired|invalid)/i.test(
    text,
  );

export const explainFault = (error: unknown): string => {
  const { name } = error as Error;
  if (saysExpired(name)) {
    return 'The AWS credentials are not valid, or have expired: renew them (aws sso login), and run this again, with --resume if a run has begun.';
  }
  return sentences[name] ?? explain(error);
};

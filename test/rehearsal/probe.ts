/** A temporary function that has the role of a handler, and makes calls as this role. */
import {
  GetObjectCommand,
  ListObjectsV2Command,
  ListObjectVersionsCommand,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { post } from '../../lib/keys/signed-request.ts';

/** A call of an operation of AWS, such as `GetItem`. */
export interface ProbeCall {
  readonly service: 's3' | keyof typeof services;
  readonly operation: string;
  readonly input: object;
  /** The path of a request whose operation is not named by a header. */
  readonly path?: string;
}

/** The services that accept JSON, with the operation in a header or in the path. */
const services = {
  dynamodb: { target: 'DynamoDB_20120810', version: '-1.0' },
  events: { target: 'AWSEvents', version: '-1.1' },
  kms: { target: 'TrentService', version: '-1.1' },
  lambda: { target: '', version: '' },
  secretsmanager: { target: 'secretsmanager', version: '-1.1' },
  ses: { target: '', version: '' },
  sqs: { target: 'AmazonSQS', version: '-1.0' },
} as const;

const s3Commands = {
  GetObject: GetObjectCommand,
  ListObjectsV2: ListObjectsV2Command,
  ListObjectVersions: ListObjectVersionsCommand,
  PutObject: PutObjectCommand,
};

/** @returns for each call the name of its error, or `done` */
export const handler = async (calls: readonly ProbeCall[]): Promise<readonly string[]> => {
  const outcomes: string[] = [];
  for (const call of calls) {
    const make = () => (call.service === 's3' ? callS3(call) : postJson(call, call.service));
    // The first request of a new instance may be late.
    outcomes.push(await make().catch(() => make().catch(({ name }: Error) => name)));
  }
  return outcomes;
};

const callS3 = async ({ operation, input }: ProbeCall): Promise<string> => {
  const Command = s3Commands[operation as keyof typeof s3Commands] as unknown as new (
    input: object,
  ) => never;
  await new S3Client().send(new Command(input));
  return 'done';
};

const postJson = async (
  { operation, input, path = '/' }: ProbeCall,
  service: keyof typeof services,
): Promise<string> => {
  const { target, version } = services[service];
  const { AWS_ENDPOINT_URL, AWS_REGION } = process.env;
  const host = service === 'ses' ? 'email' : service;
  const { status, text } = await post({
    url: (AWS_ENDPOINT_URL ?? `https://${host}.${AWS_REGION}.amazonaws.com`) + path,
    service,
    headers: {
      'content-type': version ? `application/x-amz-json${version}` : 'application/json',
      ...(target && { 'x-amz-target': `${target}.${operation}` }),
      // With this header, Lambda only reports whether the function may be invoked (its API reference, Invoke).
      ...(service === 'lambda' && { 'x-amz-invocation-type': 'DryRun' }),
    },
    body: JSON.stringify(input),
  });
  const [, name = `Http${status}`] = /"__type": *"(?:[^"]*#)?(\w+)"/.exec(text) ?? [];
  return status < 300 ? 'done' : name;
};

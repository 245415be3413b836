/**
 * Sends signed requests to services of AWS. The SDK's client for one more service would double the size of a bundle;
 * the bundle contains the code that signs anyway. Documents of issuers are requested without a signature.
 */
import { Sha256 } from '@smithy/core/checksum';
import { HttpRequest } from '@smithy/core/protocols';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { SignatureV4 } from '@smithy/signature-v4';
import { namedError } from '../ground/errors.ts';
import { config } from '../ground/settings.ts';
import { patiently } from '../ground/time.ts';

let http: NodeHttpHandler | undefined;

export interface PostRequest {
  readonly url: string;
  readonly service: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Gets a document, with a second request if the first fails. @throws as {@link exchange} does */
export async function getDocument(url: string) {
  const request = requestTo(url, { accept: 'application/json' });
  const { status, text } = await exchange(request).catch(() => exchange(request));
  if (status !== 200) throw namedError(`Http${status}`);
  return JSON.parse(text);
}

export function callKms(
  operation: 'Encrypt' | 'Decrypt' | 'GetPublicKey' | 'Sign',
  KeyId: string,
  input: object = {},
) {
  return call(config.kmsUrl, 'kms', `TrentService.${operation}`, { KeyId, ...input });
}

/** Signs a request (AWS Signature Version 4) and sends it once, as {@link exchange} does. */
export async function post(request: PostRequest) {
  return exchange(await signed(request));
}

export interface BucketRequest {
  readonly url: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** The most bytes of the response. */
  readonly most: number;
}

/** Milliseconds for the response of S3 to an attempt, which may have many megabytes. */
const bucketTime = 8000;

/** Reads S3, with a second request if the first one fails. @throws as {@link call} for a status of 500 and above */
export async function getFromBucket({ url, query, headers = {}, most }: BucketRequest) {
  const { href } = new URL(new URL(url).pathname, process.env.AWS_ENDPOINT_URL || url);
  return tryTwice(async () => {
    const request = requestTo(href, headers);
    request.query = { ...query };
    return exchangeBytes(await sign(request, 's3'), { time: bucketTime, most });
  });
}

/** A version of a secret, as Secrets Manager returns it: its date is in seconds since 1970. */
interface SecretValue {
  readonly VersionId: string;
  readonly SecretString?: string;
  readonly CreatedDate: number;
}

/**
 * Reads a secret from Secrets Manager, whose URL is SECRETS_URL.
 * @param VersionStage the stage of the wanted version, which must be the stage that permissions name
 */
export async function readSecretValue(
  SecretId: string,
  VersionStage: 'AWSCURRENT' | 'AWSPREVIOUS',
): Promise<SecretValue> {
  const { SECRETS_URL = '' } = process.env;
  const target = 'secretsmanager.GetSecretValue';
  return call(SECRETS_URL, 'secretsmanager', target, { SecretId, VersionStage });
}

function requestTo(url: string, headers: Readonly<Record<string, string>>, body?: string) {
  const { protocol, hostname, port, host, pathname, search } = new URL(url);
  return new HttpRequest({
    method: body ? 'POST' : 'GET',
    protocol,
    hostname,
    path: pathname + search,
    body,
    ...(port ? { port: Number(port) } : {}),
    headers: { host, ...headers },
  });
}

/** Milliseconds within which the response to an attempt must begin. */
const attemptTime = 1000;

/** The most bytes of a response to a GET request, which goes to a server that does not belong to AWS. */
const longestDocument = 1_000_000;

/**
 * Sends a request once, and follows no redirection.
 * @returns the status and the text of the response
 * @throws the error of the network, a TimeoutError after {@link attemptTime}, or an error if the response then takes
 *   longer than the same time again, or is too long
 */
async function exchange(request: HttpRequest): Promise<{ status: number; text: string }> {
  const most = request.method === 'GET' ? longestDocument : Number.POSITIVE_INFINITY;
  const { status, content } = await exchangeBytes(request, { time: 2 * attemptTime, most });
  return { status, text: content.toString() };
}

/** As {@link exchange}. @param limits the milliseconds for the whole response, and its most bytes */
async function exchangeBytes(request: HttpRequest, { time, most }: { time: number; most: number }) {
  http ??= openClient();
  const abortSignal = AbortSignal.timeout(patiently(time));
  const { response } = await http.handle(request, { abortSignal });
  // If the body were not read, the connection could not be used again.
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of response.body) {
    length += part.length;
    if (length > most) throw namedError('ResponseTooLong');
    parts.push(part);
  }
  return { status: response.statusCode, content: Buffer.concat(parts) };
}

function openClient(): NodeHttpHandler {
  const requestTimeout = patiently(attemptTime);
  return new NodeHttpHandler({
    connectionTimeout: requestTimeout / 2,
    requestTimeout,
    throwOnRequestTimeout: true,
    socketTimeout: requestTimeout,
  });
}

/**
 * Calls an operation of AWS that changes nothing, and sends a second request if the first one fails.
 * @param url the URL of the service; AWS_ENDPOINT_URL takes precedence over it, as in the SDK
 * @throws the error of the network, or an error with the name of the refusal or with the status
 */
async function call(url: string, service: string, target: string, input: object) {
  const headers = { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': target };
  const body = JSON.stringify(input);
  const request = { url: process.env.AWS_ENDPOINT_URL || url, service, headers, body };
  const { status, text } = await tryTwice(() => post(request));
  const answer = JSON.parse(text);
  if (status !== 200) throw namedError(answer.__type?.replace(/.*#/, '') ?? `Http${status}`);
  return answer;
}

/** Sends a request, and a second one if the first one fails. @throws the error of the second request, or its status */
function tryTwice<T extends { readonly status: number }>(send: () => Promise<T>): Promise<T> {
  const attempt = async () => {
    const response = await send();
    if (response.status >= 500) throw namedError(`Http${response.status}`);
    return response;
  };
  return attempt().catch(attempt);
}

async function signed({ url, service, headers, body }: PostRequest): Promise<HttpRequest> {
  const length = String(Buffer.byteLength(body));
  const request = requestTo(url, { 'content-length': length, ...headers }, body);
  return sign(request, service);
}

async function sign(request: HttpRequest, service: string): Promise<HttpRequest> {
  const region = process.env.AWS_REGION ?? '';
  const signer = new SignatureV4({
    credentials: credentials(),
    region,
    service,
    sha256: Sha256,
  });
  return (await signer.sign(request)) as HttpRequest;
}

function credentials() {
  const { AWS_ACCESS_KEY_ID = '', AWS_SECRET_ACCESS_KEY = '', AWS_SESSION_TOKEN } = process.env;
  return {
    accessKeyId: AWS_ACCESS_KEY_ID,
    secretAccessKey: AWS_SECRET_ACCESS_KEY,
    ...(AWS_SESSION_TOKEN ? { sessionToken: AWS_SESSION_TOKEN } : {}),
  };
}

/**
 * The parts of AWS that the seal uses, on loopback: a bucket of S3 with versions, and an Ed25519 key of KMS. It refuses
 * the requests for which the functions of the seal have no permission (infra/stack/audit-seal.ts).
 */
import { generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Mishap, startAws } from './aws.ts';

interface Version {
  readonly id: string;
  /** Whether nobody but the writer of the object has its key. */
  readonly isEncrypted?: boolean;
  /** Absent for a mark that the object is deleted. */
  readonly content?: Buffer;
}

/** How a request fails. */
export const awsFaults = ['reset', 'lost answer', 'internal error'] as const;

type Objects = Map<string, Version[]>;

const urlOf = ({ url = '' }: IncomingMessage) => new URL(url, 'http://localhost');

const listXml = (objects: Objects, searchParams: URLSearchParams, pageSize: number): string => {
  const [prefix, keyMarker] = [searchParams.get('prefix') ?? '', searchParams.get('key-marker')];
  const marker = searchParams.get('version-id-marker');
  const all = [...objects]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .filter(([key]) => key.startsWith(prefix))
    .flatMap(([key, versions]) =>
      versions.toReversed().map((version, age) => ({ key, ...version, isLatest: age === 0 })),
    );
  const markedAt = all.findIndex(({ key, id }) => key === keyMarker && id === marker);
  const rest = marker ? all.slice(markedAt + 1) : all.filter(({ key }) => key > (keyMarker ?? ''));
  const page = rest.slice(0, pageSize);
  const items = page.map(({ key, id, content, isLatest }) => {
    const type = content ? 'Version' : 'DeleteMarker';
    const time = '<LastModified>2026-01-01T00:00:00.000Z</LastModified>';
    return `<${type}><Key>${key}</Key><VersionId>${id}</VersionId><IsLatest>${isLatest}</IsLatest>${time}</${type}>`;
  });
  const last = page.at(-1);
  const next =
    rest.length > page.length && last
      ? `<NextKeyMarker>${last.key}</NextKeyMarker><NextVersionIdMarker>${last.id}</NextVersionIdMarker>`
      : '';
  return `<ListVersionsResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><IsTruncated>${next !== ''}</IsTruncated>${next}${items.join('')}</ListVersionsResult>`;
};

const fail = (response: ServerResponse, status: number, code: string) =>
  response
    .writeHead(status, { 'content-type': 'application/xml' })
    .end(`<Error><Code>${code}</Code></Error>`);

const put = (objects: Objects, key: string, content: Buffer, ifNoneMatch: string | undefined) => {
  const versions = objects.get(key) ?? [];
  if (ifNoneMatch === '*' && versions.at(-1)?.content) return false;
  objects.set(key, [...versions, { id: randomUUID(), content }]);
  return true;
};

const sendRange = (content: Buffer, wanted = '', response: ServerResponse) => {
  const [, start, end] = /^bytes=(\d+)-(\d+)$/.exec(wanted) ?? [];
  if (start === undefined) return fail(response, 403, 'AccessDenied');
  if (Number(start) >= content.length) return fail(response, 416, 'InvalidRange');
  const part = content.subarray(Number(start), Number(end) + 1);
  const range = `bytes ${start}-${Number(start) + part.length - 1}/${content.length}`;
  return response.writeHead(206, { 'content-range': range }).end(part);
};

const serveObject = (
  objects: Objects,
  incoming: IncomingMessage,
  response: ServerResponse,
  content: Buffer,
): unknown => {
  const { pathname, searchParams } = urlOf(incoming);
  const key = decodeURIComponent(pathname.split('/').slice(2).join('/'));
  if (incoming.method === 'PUT') {
    const isNew = put(objects, key, content, incoming.headers['if-none-match']);
    return isNew ? response.end() : fail(response, 412, 'PreconditionFailed');
  }
  const versions = objects.get(key) ?? [];
  const wanted = searchParams.get('versionId');
  if (!wanted) return fail(response, 403, 'AccessDenied');
  const found = versions.find(({ id }) => id === wanted);
  if (found?.isEncrypted) return fail(response, 400, 'InvalidRequest');
  if (found?.content) return sendRange(found.content, incoming.headers.range, response);
  if (found) return fail(response, 405, 'MethodNotAllowed');
  return fail(response, 404, versions.length > 0 ? 'NoSuchVersion' : 'NoSuchKey');
};

/** Which requests fail. */
const faultRule = () => {
  let [fault, isFirstOnly]: [Mishap | undefined, boolean] = [undefined, false];
  const seen = new Set<string>();
  return {
    impose: (imposed?: Mishap, only?: 'firstAttempt') => {
      [fault, isFirstOnly] = [imposed, only !== undefined];
      seen.clear();
    },
    faultOf: ({ method, url, headers }: IncomingMessage): Mishap | undefined => {
      const request = [method, url, headers['x-amz-target']].join(' ');
      if (isFirstOnly && seen.has(request)) return undefined;
      seen.add(request);
      return fault;
    },
  };
};

const configurationNames = ['lifecycle', 'object-lock'] as const;
type ConfigurationName = (typeof configurationNames)[number];

const missingConfigurations = {
  lifecycle: 'NoSuchLifecycleConfiguration',
  'object-lock': 'ObjectLockConfigurationNotFoundError',
} as const satisfies Record<ConfigurationName, string>;

const sendConfiguration = (
  name: ConfigurationName,
  xml: string | undefined,
  response: ServerResponse,
) =>
  xml === undefined
    ? fail(response, 404, missingConfigurations[name])
    : response.writeHead(200, { 'content-type': 'application/xml' }).end(xml);

export type AwsArchive = Awaited<ReturnType<typeof startAwsArchive>>;

/** @param pageSize versions in one page of a list: few by default, so that there are pages */
export const startAwsArchive = async ({ pageSize = 5 } = {}) => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  /** Versions of each object, oldest first, by its key. */
  const objects: Objects = new Map();
  /** The requests, such as `PUT /bucket/key`, with their header If-None-Match. */
  const requests: { line: string; ifNoneMatch?: string | undefined }[] = [];
  /** The configurations of the bucket, in XML, by the query that asks for them. */
  const configurations: { [name in ConfigurationName]?: string | undefined } = {};
  const { impose, faultOf } = faultRule();
  const { url: endpoint, stop } = await startAws({
    operations: {
      GetPublicKey: () => {
        const der = publicKey.export({ type: 'spki', format: 'der' });
        return { PublicKey: der.toString('base64') };
      },
      Sign: ({ Message, MessageType, SigningAlgorithm }) => {
        if (`${MessageType} ${SigningAlgorithm}` !== 'RAW ED25519_SHA_512') return undefined;
        const signature = sign(null, Buffer.from(Message, 'base64'), privateKey);
        return { Signature: signature.toString('base64') };
      },
    },
    others: (incoming, response, body) => {
      const { searchParams } = urlOf(incoming);
      const asked = configurationNames.find((name) => searchParams.has(name));
      if (asked) return sendConfiguration(asked, configurations[asked], response);
      if (!searchParams.has('versions')) return serveObject(objects, incoming, response, body);
      if (searchParams.get('prefix') !== 'audit-archive/') {
        return fail(response, 403, 'AccessDenied');
      }
      response.setHeader('content-type', 'application/xml');
      return response.end(listXml(objects, searchParams, pageSize));
    },
    faultOf: (incoming) => {
      const fault = faultOf(incoming);
      if (fault === 'reset' || fault === 'internal error') return fault;
      const ifNoneMatch = incoming.headers['if-none-match'];
      requests.push({ line: `${incoming.method} ${urlOf(incoming).pathname}`, ifNoneMatch });
      return fault;
    },
  });
  return {
    /** The variables that direct the SDK to this server. */
    environment: { AWS_ENDPOINT_URL_S3: endpoint, AWS_ENDPOINT_URL_KMS: endpoint },
    publicKey,
    objects,
    configurations,
    requests,
    /** Makes every request fail, or the first attempt of each request; absent: no request fails. */
    impose,
    /** Adds a version of an object, or marks the object as deleted, without any conditions. */
    overwrite: (key: string, content?: Buffer) => {
      const version = { id: randomUUID(), ...(content ? { content } : {}) };
      objects.set(key, [...(objects.get(key) ?? []), version]);
    },
    /** Encrypts an object by a key that nobody else has. */
    encrypt: (key: string) => {
      const versions = objects.get(key) ?? [];
      objects.set(
        key,
        versions.map((each) => ({ ...each, isEncrypted: true })),
      );
    },
    stop,
  };
};

/**
 * A bucket of S3 with versions, and an Ed25519 key of KMS, on loopback: what the seal uses of them. It
 * refuses what the functions of the seal have no permission for (infra/stack/audit-seal.ts).
 */
import { generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

interface Version {
  readonly id: string;
  /** Whether only who wrote it has its key. */
  readonly isEncrypted?: boolean;
  /** Absent of a mark that the object is deleted. */
  readonly content?: Buffer;
}

/** How a request fails: before it is done, after it, or by an answer. */
export const awsFaults = ['reset', 'lost answer', 'internal error'] as const;
type AwsFault = (typeof awsFaults)[number] | 'slow';

export interface AwsArchive {
  /** Variables that lead the SDK here. */
  readonly environment: Readonly<Record<string, string>>;
  readonly publicKey: KeyObject;
  /** Versions of each object, oldest first, by its key. */
  readonly objects: Map<string, Version[]>;
  /** Requests, such as `PUT /bucket/key`, with their header If-None-Match. */
  readonly requests: readonly {
    readonly line: string;
    readonly ifNoneMatch?: string | undefined;
  }[];
  /** Puts a version over an object, or marks it as deleted, past all conditions. */
  overwrite(key: string, content?: Buffer): void;
  /** Has an object encrypted by a key that nobody else has. */
  encrypt(key: string): void;
  /** Has every request fail, or the first attempt of each; absent: none. */
  impose(fault?: AwsFault, only?: 'firstAttempt'): void;
  stop(): Promise<void>;
}

/** Versions in one page of a list: few, so that there are pages. */
const pageSize = 5;

const listXml = (objects: AwsArchive['objects'], { searchParams }: URL): string => {
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

const readBody = async (incoming: IncomingMessage): Promise<Buffer> => {
  const parts: Buffer[] = [];
  for await (const part of incoming) parts.push(part);
  return Buffer.concat(parts);
};

type Objects = AwsArchive['objects'];

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

const serveObject = async (
  objects: Objects,
  incoming: IncomingMessage,
  response: ServerResponse,
  { pathname, searchParams }: URL,
): Promise<unknown> => {
  const key = decodeURIComponent(pathname.split('/').slice(2).join('/'));
  if (incoming.method === 'PUT') {
    const content = await readBody(incoming);
    const isNew = put(objects, key, content, incoming.headers['if-none-match']);
    return isNew ? response.end() : fail(response, 412, 'PreconditionFailed');
  }
  const versions = objects.get(key) ?? [];
  const wanted = searchParams.get('versionId');
  if (!wanted) return fail(response, 403, 'AccessDenied');
  const found = versions.find(({ id }) => id === wanted);
  if (found?.isEncrypted) return fail(response, 400, 'InvalidRequest');
  if (found?.content) return sendRange(found.content, incoming.headers.range, response);
  return found ? fail(response, 405, 'MethodNotAllowed') : fail(response, 404, 'NoSuchVersion');
};

const serveKey = (
  { publicKey, privateKey }: { publicKey: KeyObject; privateKey: KeyObject },
  body: { Message?: string; MessageType?: string; SigningAlgorithm?: string },
): object => {
  if (!body.Message) {
    const der = publicKey.export({ type: 'spki', format: 'der' });
    return { PublicKey: der.toString('base64') };
  }
  if (body.MessageType !== 'RAW' || body.SigningAlgorithm !== 'ED25519_SHA_512') {
    return { __type: 'ValidationException' };
  }
  const signature = sign(null, Buffer.from(body.Message, 'base64'), privateKey);
  return { Signature: signature.toString('base64') };
};

/** Which requests fail. */
const faultRule = () => {
  let [fault, isFirstOnly]: [AwsFault | undefined, boolean] = [undefined, false];
  const seen = new Set<string>();
  return {
    impose: (imposed?: AwsFault, only?: 'firstAttempt') => {
      [fault, isFirstOnly] = [imposed, only !== undefined];
      seen.clear();
    },
    faultOf: ({ method, url, headers }: IncomingMessage): AwsFault | undefined => {
      const request = [method, url, headers['x-amz-target']].join(' ');
      if (isFirstOnly && seen.has(request)) return undefined;
      seen.add(request);
      return fault;
    },
  };
};

/** @returns whether that was all; otherwise it is done, and the answer may be lost */
const failsBefore = async (
  fault: AwsFault | undefined,
  { socket }: IncomingMessage,
  response: ServerResponse,
): Promise<boolean> => {
  if (fault === 'slow') await sleep(500);
  if (fault === 'reset') socket.resetAndDestroy();
  if (fault === 'internal error') response.writeHead(500).end();
  if (fault === 'lost answer') response.end = () => response.destroy();
  return fault === 'reset' || fault === 'internal error';
};

export const startAwsArchive = async (): Promise<AwsArchive> => {
  const pair = generateKeyPairSync('ed25519');
  const objects: Objects = new Map();
  const requests: { line: string; ifNoneMatch?: string | undefined }[] = [];
  const { impose, faultOf } = faultRule();
  const server = createServer(async (incoming, response) => {
    if (await failsBefore(faultOf(incoming), incoming, response)) return undefined;
    const url = new URL(incoming.url ?? '', 'http://localhost');
    const ifNoneMatch = incoming.headers['if-none-match'];
    requests.push({ line: `${incoming.method} ${url.pathname}`, ifNoneMatch });
    if (incoming.headers['x-amz-target']) {
      const body = JSON.parse((await readBody(incoming)).toString());
      response.setHeader('content-type', 'application/x-amz-json-1.1');
      return response.end(JSON.stringify(serveKey(pair, body)));
    }
    if (!url.searchParams.has('versions')) return serveObject(objects, incoming, response, url);
    if (url.searchParams.get('prefix') !== 'audit-archive/') {
      return fail(response, 403, 'AccessDenied');
    }
    response.setHeader('content-type', 'application/xml');
    return response.end(listXml(objects, url));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    environment: { AWS_ENDPOINT_URL_S3: endpoint, AWS_ENDPOINT_URL_KMS: endpoint },
    publicKey: pair.publicKey,
    objects,
    requests,
    impose,
    overwrite: (key, content) => {
      const version = { id: randomUUID(), ...(content ? { content } : {}) };
      objects.set(key, [...(objects.get(key) ?? []), version]);
    },
    encrypt: (key) => {
      objects.set(
        key,
        (objects.get(key) ?? []).map((each) => ({ ...each, isEncrypted: true })),
      );
    },
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};

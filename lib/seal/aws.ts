/** The seal on AWS: its archive in a bucket of S3, and its key in KMS. */
import { createHash, createPublicKey, type KeyObject } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { GetPublicKeyCommand, KMSClient, SignCommand } from '@aws-sdk/client-kms';
import {
  GetObjectCommand,
  ListObjectVersionsCommand,
  type ListObjectVersionsCommandInput,
  type ListObjectVersionsCommandOutput,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import type { Archive, Content, ListedFile } from './archive.ts';
import type { Signer } from './header.ts';
import { maxInMemory } from './spool.ts';

/** Milliseconds: a lost response must not hold up a run for as long as it may take. */
const requestHandler = {
  connectionTimeout: 5000,
  requestTimeout: 60_000,
  throwOnRequestTimeout: true,
  socketTimeout: 60_000,
};

/** The prefix of all names of the archive in its bucket. */
export const archivePrefix = 'audit-archive/';

interface Version {
  readonly key: string;
  /** Absent for a delete marker. */
  readonly version?: string | undefined;
}

const versionsIn = (listed: ListObjectVersionsCommandOutput): readonly Version[] => {
  const { Versions = [], DeleteMarkers = [] } = listed;
  return [
    ...DeleteMarkers.map(({ Key: key = '' }) => ({ key })),
    ...Versions.map(({ Key: key = '', VersionId: version }) => ({ key, version })),
  ].sort((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key)));
};

/** Lists all versions in the order of keys; the first version of a key comes last. */
async function* listVersions(client: S3Client, Bucket: string): AsyncGenerator<Version> {
  let markers: Pick<ListObjectVersionsCommandInput, 'KeyMarker' | 'VersionIdMarker'> = {};
  let listed: ListObjectVersionsCommandOutput;
  do {
    const command = new ListObjectVersionsCommand({ Bucket, Prefix: archivePrefix, ...markers });
    listed = await client.send(command);
    yield* versionsIn(listed);
    const { NextKeyMarker: KeyMarker, NextVersionIdMarker: VersionIdMarker } = listed;
    markers = { KeyMarker, ...(VersionIdMarker ? { VersionIdMarker } : {}) };
  } while (listed.IsTruncated);
}

/** A file with its first version, which is absent when only delete markers are left. */
type VersionedFile = ListedFile & Pick<Version, 'version'>;

async function* filesOf(versions: AsyncIterable<Version>): AsyncGenerator<VersionedFile> {
  let file: VersionedFile | undefined;
  for await (const { key, version } of versions) {
    const name = key.slice(archivePrefix.length);
    if (file?.name === name) {
      file = { name, version: version ?? file.version, altered: true };
      continue;
    }
    if (file) yield file;
    file = version === undefined ? { name, altered: true } : { name, version };
  }
  if (file) yield file;
}

const isNamed = (error: unknown, ...names: readonly string[]): boolean =>
  error instanceof Error && names.includes(error.name);

/** A short body is sent as bytes, because the SDK cannot retry a stream. */
const bodyOf = async (content: Content) => {
  if (content.size <= maxInMemory) return { Body: await buffer(content.read()) };
  const hash = createHash('sha256');
  for await (const part of content.read()) hash.update(part);
  const checked = { ContentLength: content.size, ChecksumSHA256: hash.digest('base64') };
  return { Body: Readable.from(content.read()), ...checked };
};

/** The wanted part of an object of which all has come, as it may (RFC 9110, 14.2). */
async function* partOf(parts: Readable, start: number, end: number): AsyncGenerator<Buffer> {
  let at = 0;
  for await (const part of parts) {
    yield part.subarray(Math.max(0, start - at), Math.max(0, end - at));
    at += part.length;
    if (at >= end) return;
  }
}

/**
 * An archive in a bucket of S3 with versions, under one prefix. What lies over the first version of
 * an object counts as altered.
 * @throws the SDK's errors from its methods
 */
export const bucketArchive = (bucket: string): Archive => {
  const client = new S3Client({ requestHandler });
  /** The first versions of the files that were listed: a first version never changes. */
  const versions = new Map<string, string>();
  async function* list(): AsyncGenerator<ListedFile> {
    for await (const file of filesOf(listVersions(client, bucket))) {
      const { version, ...listed } = file;
      if (version !== undefined) versions.set(file.name, version);
      yield listed;
    }
  }
  const firstVersion = async (name: string): Promise<string | undefined> => {
    if (!versions.has(name)) for await (const file of list()) if (file.name >= name) break;
    return versions.get(name);
  };
  return {
    list,
    open: async (name, start, end) => {
      const VersionId = await firstVersion(name);
      if (VersionId === undefined) return undefined;
      const object = { Bucket: bucket, Key: archivePrefix + name, VersionId };
      const Range = `bytes=${start}-${end - 1}`;
      try {
        const { Body, ContentRange } = await client.send(
          new GetObjectCommand({ ...object, Range }),
        );
        const parts = Body as Readable | undefined;
        return parts && !ContentRange ? partOf(parts, start, end) : parts;
      } catch (error) {
        if (isNamed(error, 'NoSuchKey', 'NoSuchVersion', 'InvalidRange')) return undefined;
        throw error;
      }
    },
    create: async (name, content) => {
      const object = { Bucket: bucket, Key: archivePrefix + name, ...(await bodyOf(content)) };
      try {
        await client.send(new PutObjectCommand({ ...object, IfNoneMatch: '*' }));
        return true;
      } catch (error) {
        if (isNamed(error, 'PreconditionFailed')) return false;
        throw error;
      }
    },
  };
};

/**
 * The public half of a key in AWS KMS.
 * @param keyId its id or ARN
 * @throws the SDK's errors
 */
export const readPublicKey = async (keyId: string): Promise<KeyObject> => {
  const client = new KMSClient();
  try {
    const { PublicKey = new Uint8Array() } = await client.send(
      new GetPublicKeyCommand({ KeyId: keyId }),
    );
    return createPublicKey({ key: Buffer.from(PublicKey), type: 'spki', format: 'der' });
  } finally {
    client.destroy();
  }
};

/**
 * Signs by an Ed25519 key that never leaves AWS KMS.
 * @throws the SDK's errors
 */
export const kmsSigner = async (keyId: string): Promise<Signer> => {
  const publicKey = await readPublicKey(keyId);
  const client = new KMSClient();
  return {
    publicKey,
    sign: async (message) => {
      const { Signature = new Uint8Array() } = await client.send(
        new SignCommand({
          KeyId: keyId,
          Message: message,
          MessageType: 'RAW',
          SigningAlgorithm: 'ED25519_SHA_512',
        }),
      );
      return Signature;
    },
  };
};

/** The seal on AWS: its archive in a bucket of S3, and its key in KMS. */
import { createPublicKey, type KeyObject } from 'node:crypto';
import type { Readable } from 'node:stream';
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
import { type Archive, archivePrefix } from './archive.ts';
import type { Signer } from './header.ts';

/** Time limits in milliseconds, so that a lost response does not use up the time of a run. */
const requestHandler = {
  connectionTimeout: 5000,
  requestTimeout: 60_000,
  throwOnRequestTimeout: true,
  socketTimeout: 60_000,
};

/**
 * An archive in a bucket of S3 with versions, under one prefix. An object with a later version counts as altered.
 * @throws the SDK's errors from its methods
 */
export function bucketArchive(bucket: string): Archive {
  const client = new S3Client({ requestHandler });
  /** The first versions of the files that were listed: a first version never changes. */
  const versions = new Map<string, string | undefined>();
  async function* list() {
    for await (const file of filesOf(listVersions(client, bucket))) {
      versions.set(file.name, file.version);
      yield file;
    }
  }
  const firstVersion = async (name: string): Promise<string | undefined> => {
    if (!versions.get(name)) for await (const file of list()) if (file.name >= name) break;
    return versions.get(name);
  };
  const objectOf = (name: string) => ({ Bucket: bucket, Key: archivePrefix + name });
  return {
    list,
    read: async (name, start, end) => {
      const VersionId = await firstVersion(name);
      if (VersionId === undefined) return undefined;
      const object = { ...objectOf(name), VersionId, Range: `bytes=${start}-${end - 1}` };
      try {
        const { Body, ContentRange } = await client.send(new GetObjectCommand(object));
        const bytes = await buffer(Body as Readable);
        // A store may send all of an object (RFC 9110, 14.2).
        return ContentRange ? bytes : bytes.subarray(start, end);
      } catch (error) {
        if (isNamed(error, 'NoSuchKey', 'NoSuchVersion', 'InvalidRange')) return undefined;
        throw error;
      }
    },
    create: async (name, Body) => {
      try {
        await client.send(new PutObjectCommand({ ...objectOf(name), Body, IfNoneMatch: '*' }));
        return true;
      } catch (error) {
        if (isNamed(error, 'PreconditionFailed')) return false;
        throw error;
      }
    },
  };
}

/** Signs by an Ed25519 key that never leaves AWS KMS. @throws the SDK's errors */
export async function kmsSigner(keyId: string): Promise<Signer> {
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
}

/** The public half of a key in AWS KMS. @param keyId its id or ARN @throws the SDK's errors */
export async function readPublicKey(keyId: string): Promise<KeyObject> {
  const client = new KMSClient();
  try {
    const { PublicKey = new Uint8Array() } = await client.send(
      new GetPublicKeyCommand({ KeyId: keyId }),
    );
    return createPublicKey({ key: Buffer.from(PublicKey), type: 'spki', format: 'der' });
  } finally {
    client.destroy();
  }
}

interface Version {
  readonly name: string;
  /** Absent for a delete marker. */
  readonly version?: string | undefined;
}

/** A file with its first version, which is absent if only delete markers are left. */
interface VersionedFile extends Version {
  readonly altered: boolean;
}

async function* filesOf(versions: AsyncIterable<Version>): AsyncGenerator<VersionedFile> {
  let file: VersionedFile | undefined;
  for await (const { name, version } of versions) {
    if (file?.name === name) {
      file = { name, version: version ?? file.version, altered: true };
    } else {
      if (file) yield file;
      file = { name, version, altered: version === undefined };
    }
  }
  if (file) yield file;
}

/** Lists all versions in the order of names; the first version of a name comes last. */
async function* listVersions(client: S3Client, Bucket: string): AsyncGenerator<Version> {
  let markers: Pick<ListObjectVersionsCommandInput, 'KeyMarker' | 'VersionIdMarker'> = {};
  let listed: ListObjectVersionsCommandOutput;
  do {
    const command = new ListObjectVersionsCommand({ Bucket, Prefix: archivePrefix, ...markers });
    listed = await client.send(command);
    const { Versions = [], DeleteMarkers = [] } = listed;
    const marks = DeleteMarkers.map(({ Key }) => ({ Key, VersionId: undefined }));
    yield* [...marks, ...Versions]
      .map(({ Key = '', VersionId: version }) => ({
        name: Key.slice(archivePrefix.length),
        version,
      }))
      .sort((a, b) => (a.name < b.name ? -1 : Number(a.name > b.name)));
    const { NextKeyMarker: KeyMarker, NextVersionIdMarker: VersionIdMarker } = listed;
    markers = { KeyMarker, ...(VersionIdMarker ? { VersionIdMarker } : {}) };
  } while (listed.IsTruncated);
}

function isNamed(error: unknown, ...names: readonly string[]): boolean {
  return error instanceof Error && names.includes(error.name);
}

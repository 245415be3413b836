/** Changes the keys of tokens for commands: aliases in AWS KMS, or files on one machine. */
import { createPublicKey, type KeyObject } from 'node:crypto';
import { existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import {
  CreateAliasCommand,
  CreateKeyCommand,
  DeleteAliasCommand,
  GetPublicKeyCommand,
  KMSClient,
  paginateListAliases,
  ScheduleKeyDeletionCommand,
  UpdateAliasCommand,
} from '@aws-sdk/client-kms';
import { config } from '../../lib/ground/settings.ts';
import { privateKeyIn, publishedKey, type Stage, stages } from '../../lib/keys/signing-key.ts';
import { createPrivately, writePrivately } from '../local/data-folder.ts';
import { makeTokenKey } from '../local/secrets.ts';

/** A key in a stage. `id` is its id in KMS, or its text; `since` is the time since which it has been in the stage. */
interface Placed {
  readonly id: string;
  readonly since: number;
}

type HeldKey = Placed & { readonly kid: string };

interface Place {
  /** The key that signs until the first rotation. */
  readonly first: () => string;
  read(stage: Stage): Promise<Placed | undefined>;
  publicKeyOf(id: string): Promise<KeyObject>;
  /** Makes a key, which is not in any stage yet. */
  make(): Promise<string>;
  /** @throws if there already is a next key: it is not replaced, because somebody else has made it */
  put(stage: Stage, id: string): Promise<unknown>;
  remove(stage: Stage): Promise<unknown>;
  /** Destroys a key that is not in any stage, unless it is the first key. */
  destroy(id: string): Promise<unknown>;
}

const inFiles: Place = {
  first: () => readFileSync(config.tokenSigningKey, 'utf8'),
  read: async (stage) => {
    const file = config.tokenKeys + stage;
    if (!existsSync(file)) return undefined;
    const id = readFileSync(file, 'utf8');
    privateKeyIn(id, file);
    return { id, since: statSync(file).mtimeMs };
  },
  publicKeyOf: async (pem) => createPublicKey(pem),
  make: async () => makeTokenKey(),
  put: async (stage, pem) =>
    (stage === 'next' ? createPrivately : writePrivately)(config.tokenKeys + stage, pem),
  remove: async (stage) => rmSync(config.tokenKeys + stage),
  destroy: async () => undefined,
};

/** The keys of the service for which the command is, and the functions that change these keys. */
export async function openKeys() {
  const place = config.tokenKeys.startsWith('alias/') ? inKms() : inFiles;
  const held = async (placed: Placed | undefined): Promise<HeldKey | undefined> =>
    placed && { ...placed, kid: publishedKey(await place.publicKeyOf(placed.id)).kid };
  const [next, current, previous] = await Promise.all(stages.map(place.read));
  return {
    ...place,
    next: await held(next),
    current: (await held(current ?? { id: place.first(), since: 0 })) as HeldKey,
    previous: await held(previous),
    make: async () => (await held({ id: await place.make(), since: Date.now() })) as HeldKey,
  };
}

function inKms(): Place {
  const requestHandler = { requestTimeout: 5000, throwOnRequestTimeout: true };
  const client = new KMSClient({ requestHandler });
  const first = config.tokenSigningKey.replace(/.*\//, '');
  return {
    first: () => first,
    read: async (stage) => {
      for await (const { Aliases = [] } of paginateListAliases({ client }, {})) {
        const found = Aliases.find(({ AliasName }) => AliasName === config.tokenKeys + stage);
        if (found) return { id: found.TargetKeyId ?? '', since: Number(found.LastUpdatedDate) };
      }
      return undefined;
    },
    publicKeyOf: async (KeyId) => {
      const { PublicKey = [] } = await client.send(new GetPublicKeyCommand({ KeyId }));
      return createPublicKey({ key: Buffer.from(PublicKey), type: 'spki', format: 'der' });
    },
    make: async () => {
      const input = { KeySpec: 'RSA_2048', KeyUsage: 'SIGN_VERIFY' } as const;
      const Description = `Signs tokens, by ${config.tokenKeys}*`;
      const { KeyMetadata } = await client.send(new CreateKeyCommand({ ...input, Description }));
      return KeyMetadata?.KeyId ?? '';
    },
    put: async (stage, TargetKeyId) => {
      const alias = { AliasName: config.tokenKeys + stage, TargetKeyId };
      await client.send(new CreateAliasCommand(alias)).catch(async (error) => {
        if (error.name !== 'AlreadyExistsException') throw error;
        if (stage !== 'next') return client.send(new UpdateAliasCommand(alias));
        await client.send(new ScheduleKeyDeletionCommand({ KeyId: TargetKeyId }));
        throw error;
      });
    },
    remove: (stage) => client.send(new DeleteAliasCommand({ AliasName: config.tokenKeys + stage })),
    destroy: async (KeyId) =>
      KeyId !== first && client.send(new ScheduleKeyDeletionCommand({ KeyId })),
  };
}

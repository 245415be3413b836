import { readFile } from 'node:fs/promises';
import { ConfigError } from '../ground/setting.ts';
import { readSecretValue } from './signed-request.ts';

/** The signing secret between two rotations. */
export interface SecretVersion {
  readonly id: string;
  readonly value: string;
  readonly createdAt: Date;
}

export interface SecretVersions {
  readonly current: SecretVersion;
  /** The previous version; absent if the secret was never rotated. */
  readonly previous?: SecretVersion;
}

/**
 * Reads the signing secret from the source that the environment names: the value itself (JWT_SECRET), a file of
 * versions (JWT_SECRET_FILE) or Secrets Manager (JWT_SECRET_ID, a name or an ARN).
 * @param known the result of an earlier call; it saves a request as long as there is no newer version
 * @param isPreviousRetired whether no token of the previous version can still be valid; if so, a request is saved
 * @throws {ConfigError} if no source is set or the secret is too short; if the secret cannot be read, the errors of
 *   readSecretValue or of the file system
 */
export async function readSecret(
  known?: SecretVersions,
  isPreviousRetired: (current: SecretVersion) => boolean = () => false,
): Promise<SecretVersions> {
  const { JWT_SECRET, JWT_SECRET_FILE, JWT_SECRET_ID } = process.env;
  if (JWT_SECRET) {
    const value = checked(JWT_SECRET, 'JWT_SECRET');
    return { current: { id: 'JWT_SECRET', value, createdAt: new Date(0) } };
  }
  if (JWT_SECRET_FILE) return fromFile(JWT_SECRET_FILE);
  if (JWT_SECRET_ID) return fromSecretsManager(JWT_SECRET_ID, known, isPreviousRetired);
  throw new ConfigError('JWT_SECRET_ID', 'is not set');
}

/** Bytes. RFC 7518, section 3.2: a key for HS256 must be at least as long as the output of the hash. */
const minimumBytes = 32;

function checked(value: string | undefined, variable: string): string {
  if (!value || Buffer.byteLength(value) < minimumBytes) {
    throw new ConfigError(variable, `must give a secret of at least ${minimumBytes} bytes`);
  }
  return value;
}

/** Reads the file of the local service, a JSON array of versions, newest first. */
async function fromFile(file: string): Promise<SecretVersions> {
  const versions = parseVersions(await readFile(file, 'utf8'));
  const [current, previous] = versions.map(({ id, value, createdAt }) => ({
    id,
    value: checked(value, 'JWT_SECRET_FILE'),
    createdAt: new Date(createdAt),
  }));
  if (!current) throw new ConfigError('JWT_SECRET_FILE', `names a file without a secret, ${file}`);
  return previous ? { current, previous } : { current };
}

interface StoredVersion {
  readonly id: string;
  readonly value: string;
  readonly createdAt: string;
}

function parseVersions(text: string): readonly StoredVersion[] {
  try {
    const versions = JSON.parse(text);
    return Array.isArray(versions) ? versions : [];
  } catch {
    return [];
  }
}

async function fromSecretsManager(
  id: string,
  known: SecretVersions | undefined,
  isPreviousRetired: (current: SecretVersion) => boolean,
): Promise<SecretVersions> {
  const current = await readStage(id, 'AWSCURRENT');
  if (known && known.current.id === current.id) return known;
  if (isPreviousRetired(current)) return { current };
  const previous = await readPrevious(id);
  return previous ? { current, previous } : { current };
}

async function readStage(id: string, stage: 'AWSCURRENT' | 'AWSPREVIOUS') {
  const { VersionId, SecretString, CreatedDate } = await readSecretValue(id, stage);
  return {
    id: VersionId,
    value: checked(SecretString, 'JWT_SECRET_ID'),
    createdAt: new Date(CreatedDate * 1000),
  };
}

async function readPrevious(id: string): Promise<SecretVersion | undefined> {
  try {
    return await readStage(id, 'AWSPREVIOUS');
  } catch (error) {
    if ((error as Error).name === 'ResourceNotFoundException') return undefined;
    throw error;
  }
}

/**
 * The data of a version as files, in a folder with its name: the data folder, the items of both tables in the form of
 * DynamoDB, and what users know about them. The files of a released version are never changed.
 */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  type AttributeValue,
  DeleteItemCommand,
  DynamoDBClient,
  PutItemCommand,
  ScanCommand,
} from '@aws-sdk/client-dynamodb';
import { inject } from 'vitest';
import { runSealer } from '../../../lib/seal/check.ts';
import {
  folderArchive,
  localSigner,
  makeKey,
  publicKeyName,
} from '../../../lib/seal/folder-archive.ts';
import * as shownHeader from '../../../lib/seal/newest-header.ts';
import { auditEntries } from '../../../lib/seal/table.ts';
import { operate } from '../../support/operator.ts';
import type { Place } from './service.ts';

type Item = Record<string, AttributeValue>;

/** The names of tables in a fixture. */
const tableNames = ['users', 'audit'] as const;
export type Items = Readonly<Record<(typeof tableNames)[number], readonly Item[]>>;

export const folderOf = (version: string): string =>
  fileURLToPath(new URL(version, import.meta.url));

/** The versions that have a fixture. */
export const versions = readdirSync(fileURLToPath(new URL('.', import.meta.url)), {
  withFileTypes: true,
})
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

const tableOf = ({ tables }: Place, name: keyof Items): string =>
  name === 'users' ? tables.USERS_TABLE : tables.AUDIT_TABLE;

const client = (endpoint = inject('engine')) => new DynamoDBClient({ endpoint });

/** All items of the tables. @param endpoint the engine that has the tables; absent: the engine of the tests */
export const readItems = async (place: Place, endpoint?: string): Promise<Items> => {
  const read = async (name: keyof Items) => {
    const { Items = [], LastEvaluatedKey } = await client(endpoint).send(
      new ScanCommand({ TableName: tableOf(place, name), ConsistentRead: true }),
    );
    if (LastEvaluatedKey) throw new Error('A fixture is read by one request');
    return Items.map((item) => lineOf(sorted(item)))
      .sort()
      .map(readLine);
  };
  return { users: await read('users'), audit: await read('audit') };
};

/** Bytes, which DynamoDB marks with `B`, are written to a line in base64. */
const lineOf = (value: unknown): string =>
  JSON.stringify(value, (name, member) =>
    name === 'B' ? Buffer.from(member).toString('base64') : member,
  );
const readLine = (line: string) =>
  JSON.parse(line, (name, member) => (name === 'B' ? Buffer.from(member, 'base64') : member));

const sorted = (item: Item): Item =>
  Object.fromEntries(Object.entries(item).sort(([one], [other]) => (one < other ? -1 : 1)));

/**
 * Seals the trail of a stopped service into a folder, like its data folder, in several files. The last run also checks
 * the files, and then an operator verifies them. @returns the time of the last run
 */
export const sealInto = async (folder: string, place: Place): Promise<number> => {
  // The service has sealed into its own folder at arbitrary times, so that the chain begins again here.
  const Key = { pk: { S: 'audit-seal' } };
  await client().send(new DeleteItemCommand({ TableName: tableOf(place, 'users'), Key }));
  const archive = join(folder, 'audit-archive');
  mkdirSync(archive);
  const key = makeKey();
  const signer = localSigner(key);
  writeFileSync(join(folder, 'audit-seal-key.pem'), key);
  const pem = signer.publicKey.export({ type: 'spki', format: 'pem' });
  mkdirSync(join(folder, 'state'));
  for (const place of [archive, join(folder, 'state')])
    writeFileSync(join(place, publicKeyName), pem);
  const common = { interval: 300, size: 50, shown: shownHeader };
  const sealing = { archive: folderArchive(archive), signer, source: auditEntries, ...common };
  const first = Date.now() + 300_000;
  const last = first + 3_600_000;
  for (const at of [first, last]) await runSealer(sealing, new Date(at));
  const { stdout } = await verifyAsOperator(folder);
  if (!stdout.includes('Intact.')) throw new Error(stdout);
  return last;
};

/**
 * Verifies a copy of the archive in a data folder, as an operator whose machine remembers the previous verification.
 */
export const verifyAsOperator = (folder: string) => {
  const state = join(folder, 'state');
  const trail = ['--archive', join(folder, 'audit-archive')];
  const key = ['--public-key', join(state, publicKeyName)];
  return operate(['verify-audit', ...trail, ...key], { environment: { XDG_STATE_HOME: state } });
};

/** @throws {Error} if the version has a fixture already */
export const writeFixture = (
  version: string,
  { items, known, data }: { items: Items; known: object; data: string },
): void => {
  const folder = folderOf(version);
  if (existsSync(folder)) {
    throw new Error(`${folder} is there: the files of a released version are never changed`);
  }
  mkdirSync(folder);
  cpSync(data, join(folder, 'data'), { recursive: true });
  cpSync('functions/openapi.json', join(folder, 'openapi.json'));
  for (const name of tableNames) writeLines(join(folder, `${name}.ndjson`), items[name]);
  writeLines(join(folder, 'known.ndjson'), Object.entries(known));
};

const writeLines = (file: string, lines: readonly unknown[]): void =>
  writeFileSync(file, lines.map((line) => `${lineOf(line)}\n`).join(''));

/** Reads the fixture of a version. */
export const readFixture = (version: string) => {
  const folder = folderOf(version);
  const read = (name: string) =>
    readFileSync(join(folder, `${name}.ndjson`), 'utf8')
      .trimEnd()
      .split('\n')
      .map(readLine);
  const items: Items = { users: read('users'), audit: read('audit') };
  return { items, known: Object.fromEntries(read('known')), data: join(folder, 'data') };
};

/** Copies a fixture to the place of a service. @param endpoint see {@link readItems} */
export const load = async (
  { items, data }: Pick<ReturnType<typeof readFixture>, 'items' | 'data'>,
  place: Place,
  endpoint?: string,
): Promise<void> => {
  cpSync(data, place.folder, { recursive: true });
  const engine = client(endpoint);
  for (const name of tableNames) {
    const TableName = tableOf(place, name);
    const puts = items[name].map((Item) => engine.send(new PutItemCommand({ TableName, Item })));
    await Promise.all(puts);
  }
};

/** The form of items: each attribute of each kind of item, and of the details of entries, with its type. */
export const formOf = ({ users, audit }: Items): readonly string[] => {
  const ofUsers = users.flatMap((item) => attributesOf(kindOf(item), { M: item }));
  const ofEntries = audit.flatMap((item) => [
    ...attributesOf('entry', { M: item }),
    ...membersOf(`details of ${item.action?.S}`, JSON.parse(item.details?.S ?? 'null')),
  ]);
  return [...new Set([...ofUsers, ...ofEntries])].sort();
};

const kindOf = ({ pk }: Item): string => `${pk?.S}`.replace(/#.*/, '');

const sessionForm = /^[\w-]{22}$/;

const attributesOf = (path: string, value: AttributeValue): readonly string[] => {
  if (value.M) {
    return Object.entries(value.M).flatMap(([name, member]) =>
      attributesOf(`${path}.${sessionForm.test(name) ? '*' : name}`, member),
    );
  }
  if (value.L) return value.L.flatMap((member) => attributesOf(`${path}[]`, member));
  return [`${path}: ${Object.keys(value).join()}`];
};

const membersOf = (path: string, value: unknown): readonly string[] => {
  if (typeof value !== 'object' || value === null) return [`${path}: ${typeof value}`];
  return Object.entries(value).flatMap(([name, member]) =>
    membersOf(Array.isArray(value) ? `${path}[]` : `${path}.${name}`, member),
  );
};

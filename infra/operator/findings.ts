/** Prints the findings of a verification, and tells which of them are known. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import * as v from 'valibot';
import { printable } from '../../lib/log.ts';
import { type Archive, type Finding, findingKinds, sha256 } from '../../lib/seal/door.ts';
import { Failure } from './failure.ts';
import { createPrivateFile, locate } from './files.ts';

/** Characters of a value that are printed. */
const maxShown = 200;

const shorten = (text: string): string =>
  text.length > maxShown ? `${text.slice(0, maxShown)}… (${text.length} characters)` : text;

const fieldsOf = (line: string): ReadonlyMap<string, string> =>
  new Map(Object.entries(JSON.parse(line)).map(([name, value]) => [name, JSON.stringify(value)]));

/** The differences between an entry as it was sealed and as it is. */
const differences = (before: string, after: string): readonly string[] => {
  const [sealed, stored] = [fieldsOf(before), fieldsOf(after)];
  const shown = (text = 'absent') => shorten(text);
  return [...new Set([...sealed.keys(), ...stored.keys()])]
    .filter((name) => sealed.get(name) !== stored.get(name))
    .map((name) => `${shorten(name)}: ${shown(sealed.get(name))} -> ${shown(stored.get(name))}`);
};

const detailsOf = ({ before, after }: Finding): readonly string[] => {
  if (before && after) return differences(before, after);
  return [before ?? after ?? []].flat().map(shorten);
};

/** A finding in lines of text. */
export const describeFinding = (finding: Finding): string => {
  const { kind, subject } = finding;
  const details = detailsOf(finding).map((text) => `    ${text}`);
  return [`${kind}: ${shorten(subject)} ${findingKinds[kind]}`, ...details]
    .map(printable)
    .join('\n');
};

const knownForm = v.strictObject({
  kind: v.string(),
  /** Of an entry. */
  id: v.optional(v.string()),
  /** The name of a file, a time or the fingerprint of a key. */
  file: v.optional(v.string()),
  /** Hash of what was found: the line of the entry, the file or other text; null: nothing. */
  sha256: v.nullable(v.string()),
  /** Why the finding is harmless. */
  reason: v.string(),
});
type KnownFinding = v.InferOutput<typeof knownForm>;

const identityOf = ({ kind, id, file, sha256: hash }: KnownFinding): string =>
  JSON.stringify([kind, id, file, hash]);

/** @throws {Failure} when the file cannot be read */
const readKnown = (name: string): ReadonlyMap<string, string> => {
  const file = locate(name);
  try {
    const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
    const known = lines.map((line) => v.parse(knownForm, JSON.parse(line)));
    return new Map(known.map((each) => [identityOf(each), each.reason]));
  } catch (cause) {
    throw new Failure(`${file} cannot be read as what --write-known wrote.`, { cause });
  }
};

/** Kinds of findings whose subject is an entry. */
const ofEntries = new Set<Finding['kind']>([
  'late',
  'changed',
  'resealed',
  'deleted',
  'misplaced',
  'inserted',
  'unclear',
  'hidden',
]);

const hashOfFile = async (archive: Archive, name: string): Promise<string | null> => {
  const bytes = await archive.open(name).catch(() => undefined);
  if (!bytes) return null;
  const hash = createHash('sha256');
  for await (const part of bytes) hash.update(part);
  return hash.digest('hex');
};

/** The hash of what was found instead of what was sealed. */
const hashOfFound = async (archive: Archive, { kind, subject, before, after }: Finding) => {
  const text = after ?? (kind === 'deleted' ? undefined : before);
  const ofText = text === undefined ? null : sha256(text).toString('hex');
  return ofEntries.has(kind) || kind === 'missing'
    ? ofText
    : ((await hashOfFile(archive, subject).catch(() => null)) ?? ofText);
};

/** Findings that are known, and the file that new ones are written to. */
export interface KnownFindings {
  /** Why a finding is harmless; undefined when it is not known. */
  reasonOf(finding: Finding): Promise<string | undefined>;
  /** Completes the file of findings, if there is one. */
  write(): Promise<void>;
}

/**
 * @param read the file of known findings, if there is one
 * @param written the new file for all findings, if they are to be written
 * @throws {Failure}
 */
export const openKnown = async (
  archive: Archive,
  { read, written }: { read: unknown; written: unknown },
): Promise<KnownFindings> => {
  const known = typeof read === 'string' ? readKnown(read) : new Map<string, string>();
  const file = typeof written === 'string' ? await createPrivateFile(written) : undefined;
  return {
    reasonOf: async (finding) => {
      if (!file && known.size === 0) return undefined;
      const { kind, subject } = finding;
      const place = ofEntries.has(kind) ? { id: subject } : { file: subject };
      const found = { kind, ...place, sha256: await hashOfFound(archive, finding) };
      const reason = known.get(identityOf({ ...found, reason: '' }));
      await file?.handle.write(`${JSON.stringify({ ...found, reason: reason ?? '' })}\n`);
      return reason;
    },
    write: async () => file?.handle.close(),
  };
};

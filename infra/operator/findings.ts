/** Prints the findings of a verification, and says which findings are known. */
import { readFileSync, writeSync } from 'node:fs';
import * as v from 'valibot';
import { printable } from '../../lib/ground/log.ts';
import { type Finding, findingKinds } from '../../lib/seal/finding.ts';
import { Failure } from './failure.ts';
import { createPrivateFile, locate } from './files.ts';

/** The kinds of findings that the command has in addition to the seal's kinds, and their meanings. */
const ownKinds = {
  'shown key': 'in the archive is not the public key of its sealer',
  'other key': 'is not the key of --public-key',
  'new key': 'is another key than at the verification before',
  shorter: 'was the newest file at the verification before, and is missing now',
  different: 'is another file than at the verification before',
} as const;

const meanings = { ...findingKinds, ...ownKinds };

/** A finding of the seal, or a finding of the command itself. */
export interface Told extends Omit<Finding, 'kind'> {
  readonly kind: keyof typeof meanings;
}

export type Findings = Awaited<ReturnType<typeof openFindings>>;

/** The most findings of one kind that are printed. */
const maxPrinted = 20;

/**
 * The findings of a run. Each is printed as soon as it is found.
 * @param read the file of known findings, if there is one
 * @param written the new file to which all findings are written, if one is named
 * @throws {Failure}
 */
export async function openFindings(read: unknown, written: unknown) {
  const reasons = typeof read === 'string' ? readKnown(read) : new Map<string, string>();
  const file = typeof written === 'string' ? await createPrivateFile(written) : undefined;
  /** The number of findings of each kind; known findings are counted separately. */
  const told = new Map<string, number>();
  let [faults, known] = [0, 0];
  const print = (finding: Told, reason: string | undefined): void => {
    const [begin, end] = reason === undefined ? ['', ''] : ['known: ', `\n    reason: ${reason}`];
    const label = begin + finding.kind;
    const before = told.get(label) ?? 0;
    told.set(label, before + 1);
    if (before < maxPrinted) console.log(begin + describe(finding) + end);
  };
  return {
    /** How many findings count, and how many findings do not count because they are known. */
    get faults() {
      return faults;
    },
    get known() {
      return known;
    },
    tell: (finding: Told | undefined): void => {
      if (!finding) return;
      const { kind, subject, sha256 } = finding;
      const reason = reasons.get(identityOf(finding));
      const line = JSON.stringify({ kind, subject, sha256, reason: reason ?? '' });
      if (file) writeSync(file.handle.fd, `${line}\n`);
      print(finding, reason);
      if (reason === undefined) faults += 1;
      else known += 1;
    },
    /** Prints how many findings were not printed, and completes the file of findings, if there is one. */
    end: async () => {
      for (const [label, count] of told) {
        if (count <= maxPrinted) continue;
        console.log(`${label}: ${count - maxPrinted} more, which --write-known lists`);
      }
      await file?.handle.close();
    },
  };
}

const knownForm = v.strictObject({
  kind: v.string(),
  /** The id of an entry, the names of files, or the fingerprint of a key. */
  subject: v.string(),
  /** The hash of the entry's line, or of the file, that was found; null: nothing was found. */
  sha256: v.nullable(v.string()),
  /** Why the finding is harmless. */
  reason: v.string(),
});

/** @throws {Failure} if the file cannot be read */
function readKnown(name: string): ReadonlyMap<string, string> {
  const file = locate(name);
  try {
    const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
    const known = lines.map((line) => v.parse(knownForm, JSON.parse(line)));
    return new Map(known.map((each) => [identityOf(each), each.reason]));
  } catch (cause) {
    throw new Failure(`${file} is not a file that --write-known has written, or it is damaged.`, {
      cause,
    });
  }
}

function identityOf({ kind, subject, sha256 }: Omit<v.InferOutput<typeof knownForm>, 'reason'>) {
  return JSON.stringify([kind, subject, sha256]);
}

function describe(finding: Told): string {
  const { kind, subject } = finding;
  const details = detailsOf(finding).map((text) => `    ${text}`);
  return [`${kind}: ${shorten(subject)} ${meanings[kind]}`, ...details].map(printable).join('\n');
}

function detailsOf({ before, after }: Told): readonly string[] {
  if (before && after) return differences(before, after);
  return [before ?? after ?? []].flat().map(shorten);
}

function differences(before: string, after: string): readonly string[] {
  const [sealed, stored] = [fieldsOf(before), fieldsOf(after)];
  const shown = (text = 'absent') => shorten(text);
  return [...new Set([...sealed.keys(), ...stored.keys()])]
    .filter((name) => sealed.get(name) !== stored.get(name))
    .map((name) => `${shorten(name)}: ${shown(sealed.get(name))} -> ${shown(stored.get(name))}`);
}

function fieldsOf(line: string): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(JSON.parse(line)).map(([name, value]) => [name, JSON.stringify(value)]),
  );
}

/** The most characters of a value that are printed. */
const maxShown = 200;

function shorten(text: string): string {
  return text.length > maxShown ? `${text.slice(0, maxShown)}… (${text.length} characters)` : text;
}

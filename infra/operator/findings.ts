import { type Finding, findingKinds } from '../../lib/audit/verify/verification.ts';
import { printable } from './users.ts';

const fieldsOf = (line: string): ReadonlyMap<string, string> =>
  new Map(Object.entries(JSON.parse(line)).map(([name, value]) => [name, JSON.stringify(value)]));

/** What was sealed of an entry and what is there, where these differ. */
const differences = (before: string, after: string): readonly string[] => {
  const [sealed, stored] = [fieldsOf(before), fieldsOf(after)];
  return [...new Set([...sealed.keys(), ...stored.keys()])]
    .filter((name) => sealed.get(name) !== stored.get(name))
    .map((name) => `${name}: ${sealed.get(name) ?? 'absent'} -> ${stored.get(name) ?? 'absent'}`);
};

const detailsOf = ({ before, after }: Finding): readonly string[] => {
  if (before && after) return differences(before, after);
  return [before ?? after ?? []].flat();
};

/** A finding as lines for the engineer. */
export const describeFinding = (finding: Finding): string => {
  const { kind, subject } = finding;
  const details = detailsOf(finding).map((text) => `    ${text}`);
  return [`${kind}: ${subject} ${findingKinds[kind]}`, ...details].map(printable).join('\n');
};

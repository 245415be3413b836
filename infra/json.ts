/** Finds faults in JSON that people write: the settings of a deployment, and some settings of `npm start`. */
import { attributeList, faultInAttributes } from '../lib/ground/attribute.ts';
import type { Setting } from '../lib/ground/setting.ts';

/**
 * Names the place where a text stops being JSON, or the attribute that breaks a rule, because the rule of a setting
 * names neither.
 */
export function placeOfFault({ allowed }: Setting, text = ''): string {
  const place = 'isJson' in allowed && faultInJson(text);
  if (place) return `; it is not JSON: ${place}`;
  return allowed === attributeList ? `; ${faultInAttributes(JSON.parse(text))}` : '';
}

/** Where a text stops being JSON. @returns the place, such as `line 3, column 5`; undefined for JSON */
export function faultInJson(text: string): string | undefined {
  const complaint = complaintAbout(text);
  if (complaint === undefined) return undefined;
  const lines = text.slice(0, offsetOf(text, complaint)).split('\n');
  return `line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`;
}

function complaintAbout(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return (error as SyntaxError).message;
  }
}

/**
 * The parser says where it stopped, unless it stopped at an unexpected token or at the end of the text. The token is
 * found as the end of the shortest beginning of the text in which the parser finds an unexpected token.
 */
function offsetOf(text: string, complaint: string): number {
  const [, position] = / at position (\d+) \(line \d+ column \d+\)$/.exec(complaint) ?? [];
  if (position) return Number(position);
  const isUnexpected = (end: number) =>
    complaintAbout(text.slice(0, end))?.startsWith('Unexpected token') ?? false;
  let end = 1;
  while (end <= text.length && !isUnexpected(end)) end += 1;
  return end - 1;
}

/**
 * The rule of the setting `userAttributes`: the attributes that an app declares for its users (functions/README.md,
 * Attributes). The rule is here, and not with the option, because lib/ground/settings.ts needs it.
 */
import { parseJson } from './rules.ts';
import type { Rule } from './setting.ts';

export const attributeTypes = ['text', 'number', 'boolean', 'choice', 'date'] as const;

export interface Attribute {
  readonly name: string;
  readonly type: (typeof attributeTypes)[number];
  /** The most characters of a text; absent: {@link defaultLength}. */
  readonly maxLength?: number;
  readonly choices?: readonly string[];
  /** `user`: users write their own attribute, and admins write any; `admin`, the default: only admins write it. */
  readonly writer?: 'user' | 'admin';
  /** Whether tokens have the attribute as a claim. */
  readonly token?: boolean;
}

/** The most characters of a text attribute that is declared without `maxLength`. */
export const defaultLength = 100;

/** The most bytes that the claims may add to a token. */
export const mostClaimBytes = 512;

/** The file beside the code of a deployed function that holds the list; no environment variable holds it there. */
export const attributesFile = 'user-attributes.json';

/** A list of {@link Attribute}, or the file that holds it. */
export const attributeList = {
  rule: 'a JSON list of attributes as in functions/README.md',
  isJson: true,
  isAllowed: (given) =>
    globalThis.hasFiles
      ? given === attributesFile
      : faultInAttributes(parseJson(given)) === undefined,
} as const satisfies Rule;

/** The first rule that a list of attributes breaks, as a sentence that names the attribute. */
export function faultInAttributes(list: unknown): string | undefined {
  if (!Array.isArray(list) || !isWithin(list.length, 1, 20)) {
    return 'it must be a list of 1 to 20 objects';
  }
  const names = list.map((each) => each?.name);
  for (const [i, each] of list.entries()) {
    const rule = ruleBrokenBy(each ?? {});
    const isTwice = names.indexOf(names[i]) < i;
    if (rule || isTwice) {
      return `attribute ${i + 1} (${names[i]}): ${rule ?? 'an attribute above has this name'}`;
    }
  }
  const bytes = bytesOfClaims(list);
  return bytes > mostClaimBytes
    ? `tokens would have claims of up to ${bytes} bytes, of which ${mostClaimBytes} are allowed`
    : undefined;
}

/** Whether a number is within the range in which every reader of JSON reads whole numbers exactly. */
export function isExact(value: number): boolean {
  return Math.abs(value) <= Number.MAX_SAFE_INTEGER;
}

/** Whether a text is a calendar day, such as 2026-11-20. Year 0 is not allowed: no date field of HTML shows it. */
export function isDay(text: string): boolean {
  // A 30th of February is read as a day in March; a 40th is an invalid date, whose JSON is null.
  return (
    /^(?!0000)\d{4}-\d\d-\d\d$/.test(text) && new Date(text).toJSON()?.startsWith(text) === true
  );
}

/** Names that have another meaning in a user, in a token, or in an entry. */
const reserved = `
  id name email role created_at email_verified pending_email suspended_at invited_until auditor
  second_factor identities passkeys last_seen_on attributes version invite language
  iss sub aud exp nbf iat jti
  password token secret credit_card api_key
`;

/** The rule that an attribute breaks. @returns undefined for an attribute that is allowed */
function ruleBrokenBy(given: Partial<Attribute>): string | undefined {
  const { name, type, maxLength, choices, writer = 'admin', token = false, ...others } = given;
  const rules: readonly (readonly [holds: boolean, rule: string])[] = [
    [
      typeof name === 'string' && /^[a-z][a-z0-9_]{0,31}$/.test(name),
      'name must be 1 to 32 characters a-z, 0-9 and _, of which the first is a letter',
    ],
    [isFree(String(name)), 'name is reserved'],
    [
      attributeTypes.some((each) => each === type),
      `type must be one of ${attributeTypes.join(', ')}`,
    ],
    [
      maxLength === undefined || (type === 'text' && isWithin(maxLength, 1, 255)),
      'maxLength must be a whole number from 1 to 255, and is only for the type text',
    ],
    [
      type === 'choice' ? areChoices(choices) : choices === undefined,
      'choices must be 1 to 20 different texts of 1 to 50 characters, and are only for the type choice',
    ],
    [['user', 'admin'].includes(writer), 'writer must be one of user, admin'],
    [typeof token === 'boolean', 'token must be true or false'],
    // Other services trust claims, so users must not write them.
    [!(token && writer === 'user'), 'token must be false where users write the attribute'],
    [Object.keys(others).length === 0, `${Object.keys(others)[0]} is unknown`],
  ];
  return rules.find(([holds]) => !holds)?.[1];
}

function isFree(name: string): boolean {
  return !reserved.split(/\s+/).includes(name) && !(name in Object.prototype);
}

function isWithin(value: unknown, from: number, to: number): boolean {
  return Number.isInteger(value) && (value as number) >= from && (value as number) <= to;
}

function areChoices(choices: unknown): boolean {
  return (
    Array.isArray(choices) &&
    isWithin(choices.length, 1, 20) &&
    choices.every(
      (each) =>
        typeof each === 'string' && each.isWellFormed() && isWithin([...each].length, 1, 50),
    ) &&
    new Set(choices).size === choices.length
  );
}

function bytesOfClaims(list: readonly Attribute[]): number {
  const bytes = list
    .filter(({ token }) => token)
    // `"attr:NAME":VALUE,`
    .map((attribute) => attribute.name.length + 9 + mostBytesOf(attribute));
  return bytes.reduce((sum, each) => sum + each, 0);
}

/** The most bytes of a value, as JSON. */
function mostBytesOf({ type, maxLength = defaultLength, choices = [] }: Attribute): number {
  const ofType = {
    // A character takes four bytes of UTF-8 at most; a quotation mark or a backslash takes two as JSON.
    text: 2 + 4 * maxLength,
    // As in -0.0000012345678901234567.
    number: 25,
    boolean: 5,
    choice: Math.max(...choices.map((each) => Buffer.byteLength(JSON.stringify(each)))),
    date: 12,
  };
  return ofType[type];
}

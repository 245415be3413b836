/** The secrets of a run, and a search for them in places where they must not be. */

/** A secret and what it is, as the answer to "what has leaked". */
export interface Secret {
  readonly kind: string;
  readonly value: string;
}

/** A text by the place where it was found. */
export type Places = Readonly<Record<string, string>>;

/** The forms in which a text may be written down. */
const spellings = (value: string): readonly string[] => {
  const bytes = Buffer.from(value);
  return [
    value,
    JSON.stringify(value).slice(1, -1),
    encodeURIComponent(value),
    bytes.toString('hex'),
    bytes.toString('base64').replace(/=+$/, ''),
    bytes.toString('base64url'),
  ];
};

/** The parts of a token or of a hash that are enough to do harm. */
const partsOf = ({ kind, value }: Secret): readonly string[] => {
  // A signature, or the secret of a refresh token without its tag.
  if (kind === 'token') return [value, (value.split('.').at(-1) ?? value).slice(0, 43)];
  if (kind === 'hash') return [value, value.slice(-31)];
  return [value];
};

/** Characters under which a secret would be found by chance. */
const minLength = 8;

/** @returns a line per secret and place where it was found, which does not repeat the secret */
export const leaksIn = (places: Places, secrets: Iterable<Secret>): readonly string[] => {
  const leaks = new Set<string>();
  for (const secret of secrets) {
    for (const part of partsOf(secret).filter(({ length }) => length >= minLength)) {
      for (const [place, text] of Object.entries(places)) {
        const found = spellings(part).find((spelling) => text.includes(spelling));
        if (found) leaks.add(`a ${secret.kind} in ${place}`);
      }
    }
  }
  return [...leaks];
};

/** A media range of an Accept header (RFC 9110, section 12.5.1). */
interface MediaRange {
  /** In lower case; a wildcard is an asterisk. */
  readonly type: string;
  /** From 0, not acceptable, to 1; NaN where it cannot be read. */
  readonly quality: number;
}

const rangesOf = (header: string): readonly MediaRange[] => {
  // A comma or a semicolon in a quoted string separates nothing.
  const unquoted = header.toLowerCase().replace(/"(?:[^"\\]|\\.?)*(?:"|$)/g, '""');
  return unquoted.split(',').map((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim());
    const quality = parameters.find((parameter) => parameter.startsWith('q='));
    return { type, quality: quality === undefined ? 1 : Number(quality.slice(2)) };
  });
};

/**
 * Whether a header such as Accept or Accept-Encoding names a value itself, not only by a wildcard, and
 * does not refuse it by a quality of 0.
 */
export const accepts = (header: string | undefined, value: string): boolean =>
  rangesOf(header ?? '').some(({ type, quality }) => type === value && quality > 0);

/** The offered language that an Accept-Language header (RFC 9110, section 12.5.4) prefers, if any. */
export const preferredLanguage = <T extends string>(
  header: string | undefined,
  offer: readonly T[],
): T | undefined =>
  rangesOf(header ?? '')
    .filter(({ quality }) => quality > 0)
    .sort((a, b) => b.quality - a.quality)
    .flatMap(({ type }) => offer.find((each) => each === type.replace(/-.*/, '')) ?? [])[0];

/**
 * The offered media type that an Accept header prefers: by quality, then by precision, then by the
 * order in the header, then by the order of the offer. It is the first of the offer when there is
 * no header, or when no type is acceptable.
 */
export const preferredType = <T extends string>(
  header: string | undefined,
  offer: readonly [T, ...T[]],
): T => {
  const ranges = rangesOf(header ?? '');
  const rated = offer.map((type) => {
    // The most precise range that includes a type decides its quality.
    const names = [type, type.replace(/[^/]*$/, '*'), '*/*'];
    const places = names.map((name) => ranges.findIndex((range) => range.type === name));
    const precision = places.findIndex((place) => place >= 0);
    const place = places[precision] ?? -1;
    return { type, quality: ranges[place]?.quality ?? 0, precision, place };
  });
  const [best] = rated
    .filter(({ quality }) => quality > 0)
    .sort((a, b) => b.quality - a.quality || a.precision - b.precision || a.place - b.place);
  return best?.type ?? offer[0];
};

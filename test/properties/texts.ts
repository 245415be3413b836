/** Values that software has stumbled over, to be sent where something else is expected. */
import fc from 'fast-check';

/** Path segments that look more or less like an id, and are none (functions/README.md, Input). */
const badIds = [
  ...['0', '-1', '+1', '1.0', '1e3', '0x10', '01', '1_0', '1,2', '9007199254740992'],
  ...['NaN', 'null', 'me', '{id}', '%201', '%D9%A1', '__proto__', "1'%20OR%20'1'='1"],
  '1'.repeat(500),
];

const notorious = [
  ...['', ' ', '\t\n', '\0', 'a\0b', '\r\nX-Injected: 1', '\u{feff}', '\u{200b}', '\u{fffd}'],
  ...['\ud800', '\udfff', 'a\ud83d', '\ude00b', '😀', 'e\u{301}', 'é', '\u{202e}moc', 'ﷺ'],
  ...['İ', 'ı', 'ß', 'ſ', 'ς', 'K', '\u{ffff}', '\u{10ffff}', '__proto__', 'constructor'],
  ...['toString', 'length', 'null', '[object Object]', '{}', '[]', '1', '-1', "' OR '1'='1"],
  ...['<script>', '../../etc', 'user#1', 'email#a@b', 'counter', 'attempts#login', ':v', '#n'],
  ...['attribute_not_exists(pk)', '$2b$04$', '$bcrypt-sha256$v=1', '%00', '%ff', '\\u0000', '\\'],
];

const lengths = [72, 73, 100, 101, 191, 192, 255, 256, 1024, 1025, 2048, 10_000];
const units = ['x', 'é', '😀', '\0', '\ud800', ' ', '\u{301}'];

const longText = fc
  .tuple(fc.constantFrom(...units), fc.constantFrom(...lengths))
  .map(([unit, length]) => unit.repeat(length));

/** Any text: short or long, well formed or not. */
export const anyText = fc.oneof(
  fc.constantFrom(...notorious),
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: 'binary' }),
  fc.array(fc.nat(0xffff)).map((codes) => String.fromCharCode(...codes)),
  { weight: 1, arbitrary: longText },
);

/** Any JSON value but the one that is expected. */
export const anyValue = fc.oneof(
  anyText,
  fc.constantFrom(null, true, false, 0, -0, 1, -1, 1.5, 1e308, 2 ** 53, Number.MIN_VALUE),
  fc.constantFrom([], {}, [''], ['a@b'], { S: 'a@b' }, { $ne: '' }, { toString: 'x' }, [[[]]]),
  fc.jsonValue({ maxDepth: 3 }),
);

const numericLike = fc.constantFrom(...badIds.map((id) => decodeURIComponent(id)));

/** Any text where an id, a limit or the like is expected. */
export const anyNumeral = fc.oneof(
  numericLike,
  anyText,
  fc.maxSafeInteger().map(String),
  fc.double().map(String),
  fc.bigInt().map(String),
);

/** Mostly what is expected, sometimes what is not, sometimes nothing. */
export const mostly = <Sound, Hostile>(
  sound: fc.Arbitrary<Sound>,
  hostile: fc.Arbitrary<Hostile>,
): fc.Arbitrary<Sound | Hostile | undefined> =>
  fc.oneof(
    { weight: 20, arbitrary: sound },
    { weight: 3, arbitrary: hostile },
    { weight: 1, arbitrary: fc.constant(undefined) },
  );

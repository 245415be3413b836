/** Request bodies: sound ones, sound ones with a flaw, and anything else. */
import fc from 'fast-check';
import { anyText, anyValue, mostly } from './texts.ts';

export interface SentBody {
  readonly body?: string | undefined;
  readonly isBase64Encoded?: boolean;
  readonly contentType?: string | undefined;
}

const soundName = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }).map((s) => `n${s}`);

const freeEmail = fc
  .tuple(fc.stringMatching(/^[A-Za-z0-9.+_éß-]{1,20}$/), fc.constantFrom('@b', '@example.org'))
  .map((parts) => parts.join(''));

const spellings: fc.Arbitrary<(email: string) => string> = fc.constantFrom(
  (email) => email,
  (email) => email.toUpperCase(),
  (email) => ` ${email}\n`,
);

const freePassword = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 90 });

export interface Credentials {
  readonly email: string;
  readonly password: string;
}

/** Nobody's, somebody's, or somebody's address with another password. */
const credentials = (accounts: readonly Credentials[]) => {
  const account = fc.constantFrom(...accounts);
  return fc.oneof(
    { weight: 4, arbitrary: fc.record({ email: freeEmail, password: freePassword }) },
    {
      weight: 2,
      arbitrary: fc
        .tuple(account, spellings)
        .map(([{ email, password }, spell]) => ({ email: spell(email), password })),
    },
    {
      weight: 1,
      arbitrary: fc.record({ email: account.map(({ email }) => email), password: freePassword }),
    },
  );
};

const role = fc.constantFrom('user', 'admin');
const noise = fc.dictionary(anyText, anyValue, { maxKeys: 2 });

/** An object whose fields are mostly sound. Fields that an endpoint does not know come along. */
const fields = (accounts: readonly Credentials[]) =>
  credentials(accounts).chain(({ email, password }) =>
    fc
      .tuple(
        noise,
        fc.record({
          name: mostly(soundName, anyValue),
          email: mostly(fc.constant(email), anyValue),
          password: mostly(fc.constant(password), anyValue),
          role: fc.oneof(
            { weight: 3, arbitrary: fc.constant(undefined) },
            { weight: 2, arbitrary: role },
            { weight: 1, arbitrary: anyValue },
          ),
        }),
      )
      .map(([extra, known]) => ({ ...extra, ...known })),
  );

const deep = fc
  .tuple(fc.constantFrom('[', '{"a":', '{"name":['), fc.constantFrom(100, 5_000, 100_000))
  .map(([opening, depth]) => opening.repeat(depth));

const forbiddenKeys = fc.constantFrom(
  '"__proto__":{"role":"admin"}',
  '"__proto__":null',
  '"constructor":{"prototype":{"role":"admin"}}',
  '"\\u005f_proto__":{"name":"n"}',
);

/** What can be wrong with the text of an object's JSON. */
const flaw: fc.Arbitrary<(json: string) => string> = fc.oneof(
  fc.nat(40).map((cut) => (json: string) => json.slice(0, -1 - cut)),
  forbiddenKeys.map((key) => (json: string) => `{${key},${json.slice(1)}`),
  forbiddenKeys.map((key) => (json: string) => json.replace('{', `{"x":{${key}},`)),
  fc.constant((json: string) => `{"email":"first@b","role":"admin",${json.slice(1)}`),
  fc.constant((json: string) => `\u{feff}${json}`),
  fc.constant((json: string) => `${json}${json}`),
  fc.constant((json: string) => `[${json}]`),
  fc.constant((json: string) => JSON.stringify(json)),
  fc.constant((json: string) => `{"x":1e999,"y":-0,${json.slice(1)}`),
  fc.nat().map((at) => (json: string) => json.replace(json[at % json.length] ?? '', '\0')),
  deep.map((opening) => (json: string) => `{"deep":${opening}${json}`),
  deep.map((opening) => () => opening),
  anyText.map((text) => () => text),
  anyValue.map((value) => () => JSON.stringify(value)),
);

/** JSON that opens and closes, however deep. */
const closedDepth = fc
  .constantFrom(10, 1_000, 25_000)
  .map(
    (depth) => (json: string) =>
      `{"deep":${'['.repeat(depth)}${']'.repeat(depth)},${json.slice(1)}`,
  );

const text = (accounts: readonly Credentials[]) =>
  fc
    .tuple(
      fields(accounts),
      fc.oneof(
        { weight: 12, arbitrary: fc.constant((json: string) => json) },
        { weight: 2, arbitrary: flaw },
        { weight: 1, arbitrary: closedDepth },
      ),
    )
    .map(([object, damage]) => damage(JSON.stringify(object)));

const encodings: fc.Arbitrary<(body: string) => SentBody> = fc.oneof(
  { weight: 20, arbitrary: fc.constant((body: string) => ({ body })) },
  {
    weight: 3,
    arbitrary: fc.constantFrom('utf8', 'utf16le', 'latin1').map((encoding) => (body: string) => ({
      body: Buffer.from(body, encoding as BufferEncoding).toString('base64'),
      isBase64Encoded: true,
    })),
  },
  { weight: 1, arbitrary: fc.constant((body: string) => ({ body, isBase64Encoded: true })) },
  { weight: 1, arbitrary: fc.constant(() => ({})) },
);

const contentType = fc.oneof(
  {
    weight: 19,
    arbitrary: fc.constantFrom(
      'application/json',
      'application/json; charset=utf-8',
      'Application/JSON',
      'application/vnd.api+json',
    ),
  },
  {
    weight: 1,
    arbitrary: fc.oneof(
      fc.constantFrom(undefined, 'text/plain', 'application/jsonx', 'multipart/form-data', ''),
      anyText,
    ),
  },
);

/** @param accounts what exists, so that some requests meet it */
export const sentBody = (accounts: readonly Credentials[]): fc.Arbitrary<SentBody> =>
  fc
    .tuple(text(accounts), encodings, contentType)
    .map(([json, encode, type]) => ({ ...encode(json), contentType: type }));

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

/** What can be wrong with the text of an object's JSON, beside what test/lib/http/json-body.test.ts lists. */
const flaw: fc.Arbitrary<(json: string) => string> = fc.oneof(
  fc.nat(40).map((cut) => (json: string) => json.slice(0, -1 - cut)),
  fc.constant((json: string) => json.replace('{', '{"x":{"__proto__":{"role":"admin"}},')),
  fc.constant((json: string) => `{"email":"first@b","role":"admin",${json.slice(1)}`),
  fc.constant((json: string) => `{"x":1e999,"y":-0,${json.slice(1)}`),
  fc.nat().map((at) => (json: string) => json.replace(json[at % json.length] ?? '', '\0')),
  anyText.map((text) => () => text),
  anyValue.map((value) => () => JSON.stringify(value)),
);

const text = (accounts: readonly Credentials[]) =>
  fc
    .tuple(
      fields(accounts),
      fc.oneof(
        { weight: 12, arbitrary: fc.constant((json: string) => json) },
        { weight: 3, arbitrary: flaw },
      ),
    )
    .map(([object, damage]) => damage(JSON.stringify(object)));

const encodings: fc.Arbitrary<(body: string) => SentBody> = mostly(
  fc.constant((body: string) => ({ body })),
  fc
    .constantFrom<BufferEncoding>('utf8', 'utf16le', 'latin1')
    .map((encoding) => (body: string) => ({
      body: Buffer.from(body, encoding).toString('base64'),
      isBase64Encoded: true,
    })),
).map((encode) => encode ?? (() => ({})));

const contentType = mostly(fc.constant('application/json'), anyText);

/** @param accounts what exists, so that some requests meet it */
export const sentBody = (accounts: readonly Credentials[]): fc.Arbitrary<SentBody> =>
  fc
    .tuple(text(accounts), encodings, contentType)
    .map(([json, encode, type]) => ({ ...encode(json), contentType: type }));

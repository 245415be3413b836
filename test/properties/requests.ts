/** Requests to an endpoint, each part of which is mostly sound. */
import fc from 'fast-check';
import { type Credentials, type SentBody, sentBody } from './bodies.ts';
import { expiredToken, forgedToken, type Issued } from './forgeries.ts';
import type { Call } from './handlers.ts';
import { anyNumeral, anyText, mostly } from './texts.ts';

/** What the requests of a file may refer to; the first of the tokens is an admin's. */
export interface Surroundings extends Issued {
  readonly accounts: readonly (Credentials & { readonly id: number })[];
  readonly cursors: readonly string[];
}

const authorization = (issued: Issued): fc.Arbitrary<string | undefined> =>
  fc.oneof(
    { weight: 8, arbitrary: fc.constant(`Bearer ${issued.tokens[0]}`) },
    { weight: 8, arbitrary: fc.constantFrom(...issued.tokens).map((token) => `Bearer ${token}`) },
    { weight: 1, arbitrary: forgedToken(issued).map((token) => `Bearer ${token}`) },
    { weight: 1, arbitrary: expiredToken(issued).map((token) => `Bearer ${token}`) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.constantFrom('bearer ', 'Bearer', 'Basic ', 'Token ', ''), anyText)
        .map((parts) => parts.join('')),
    },
    { weight: 1, arbitrary: fc.constant(undefined) },
  );

const otherHeaders = fc.record(
  {
    'user-agent': fc.string({ unit: 'grapheme', maxLength: 2000 }),
    'x-forwarded-for': fc.constantFrom('10.0.0.1', '::1', 'unknown', 'x'.repeat(500)),
    'x-http-method-override': fc.constantFrom('DELETE', 'GET'),
    'content-length': anyNumeral,
  },
  { requiredKeys: [] },
);

const knownId = ({ accounts }: Surroundings) =>
  fc.constantFrom(...accounts.map(({ id }) => String(id)));

const withoutUndefined = (fields: Readonly<Record<string, string | undefined>>) =>
  Object.fromEntries(
    Object.entries(fields).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );

const actionNames = fc.constantFrom('CREATE', 'READ', 'UPDATE', 'DELETE', 'LOGIN', 'LOGOUT');

const unknownParameter = fc
  .constantFrom('role', '__proto__', 'constructor', '', 'user_id', 'userid', 'limit ')
  .map((name) => Object.fromEntries([[name, 'admin']]));

const query = (known: Surroundings): fc.Arbitrary<Record<string, string> | undefined> =>
  fc.option(
    fc
      .record({
        unknown: mostly(fc.constant(undefined), unknownParameter),
        limit: mostly(fc.integer({ min: 1, max: 100 }).map(String), anyNumeral),
        cursor: mostly(fc.constantFrom(undefined, ...known.cursors), anyText),
        userId: mostly(fc.option(knownId(known), { nil: undefined }), anyNumeral),
        action: mostly(fc.option(actionNames, { nil: undefined }), anyText),
      })
      .map(({ unknown, ...known }) => withoutUndefined({ ...known, ...unknown })),
    { nil: undefined },
  );

const takesBody = /^(POST|PUT|PATCH) /;
const noBody: fc.Arbitrary<SentBody> = fc.constant({});

/** @param route as `GET /api/users/{id}` */
export const requestTo = (route: string, known: Surroundings): fc.Arbitrary<Call> =>
  fc
    .record({
      authorization: authorization(known),
      others: otherHeaders,
      sent: takesBody.test(route) ? sentBody(known.accounts) : noBody,
      id: route.includes('{id}') ? mostly(knownId(known), anyNumeral) : fc.constant(undefined),
      query: route.startsWith('GET') ? query(known) : fc.constant(undefined),
    })
    .map(({ authorization, others, sent: { contentType, ...body }, ...rest }) => ({
      route,
      headers: withoutUndefined({ authorization, 'content-type': contentType, ...others }),
      ...body,
      ...rest,
    }));
